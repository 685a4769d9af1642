"""Models that cannot be teachers, and how that is said."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from tests.tiny_model import tiny_sentences
from transformers import (
    AlbertConfig,
    AlbertModel,
    DistilBertConfig,
    DistilBertModel,
    GPT2Config,
    GPT2Model,
    MPNetConfig,
    MPNetModel,
    T5Config,
    T5Model,
)

from x2s.contextual import Encoder
from x2s.contextual.loading import find_blocks, resolve_dtype
from x2s.corpus.vocabulary import Vocabulary, count_words
from x2s.errors import InputError

VOCABULARY = Vocabulary.from_counts(count_words(tiny_sentences(20)), min_count=1)


def with_tokenizer(model: torch.nn.Module, tokenizer_of: Path, folder: Path) -> Path:
    model.save_pretrained(folder)  # type: ignore[operator]
    for path in tokenizer_of.glob("tokenizer*"):
        shutil.copy(path, folder)
    return folder


def test_other_families_are_read_too(tiny_encoder_folder: Path, tmp_path: Path) -> None:
    distilbert = DistilBertModel(DistilBertConfig(vocab_size=300, dim=32, n_layers=3, n_heads=4, hidden_dim=64))
    mpnet = MPNetModel(
        MPNetConfig(vocab_size=300, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64)
    )
    for name, model in (("distilbert", distilbert), ("mpnet", mpnet)):
        encoder = Encoder(with_tokenizer(model, tiny_encoder_folder, tmp_path / name), 2, dtype="fp32", device="cpu")
        batch = next(encoder.batches(encoder.window(tiny_sentences(20), VOCABULARY)))
        with torch.inference_mode():
            full = model.eval()(batch.subword_ids, attention_mask=batch.attention, output_hidden_states=True)
            found = encoder.read(batch.subword_ids, batch.attention, (0, 2))
        for layer in (0, 2):
            torch.testing.assert_close(found[layer], full.hidden_states[layer], atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (GPT2Model(GPT2Config(vocab_size=300, n_embd=32, n_layer=2, n_head=4)), "sees only the words before"),
        (T5Model(T5Config(vocab_size=300, d_model=32, d_ff=64, num_layers=2, num_heads=4)), "encoder-decoder"),
        (
            AlbertModel(
                AlbertConfig(
                    vocab_size=300, embedding_size=16, hidden_size=32, num_attention_heads=4, intermediate_size=64
                )
            ),
            "expected one list of 12 encoder blocks",
        ),
    ],
    ids=["decoder", "encoder-decoder", "shared blocks"],
)
def test_models_that_are_no_teachers(
    model: torch.nn.Module, said: str, tiny_encoder_folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        Encoder(with_tokenizer(model, tiny_encoder_folder, tmp_path), 1)


def test_a_model_without_fast_tokenizer(tiny_encoder_folder: Path, tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        shutil.copy(tiny_encoder_folder / name, tmp_path)
    with pytest.raises(InputError, match=r"fast tokenizer \(tokenizer\.json\)"):
        Encoder(tmp_path, 1)


def test_incomplete_weights_are_not_filled_with_random_ones(tiny_encoder_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_encoder_folder, tmp_path / "deeper")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 5}))
    with pytest.raises(InputError, match="lacks 16 weights"):
        Encoder(folder, 1)


def test_damaged_weights(tiny_encoder_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_encoder_folder, tmp_path / "damaged")
    (folder / "model.safetensors").write_bytes(b"404 not found")
    with pytest.raises(InputError, match="not a usable model folder"):
        Encoder(folder, 1)


def test_automatic_dtype(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = torch.device("cpu")
    monkeypatch.setattr("torch.cpu._is_avx512_bf16_supported", lambda: False)
    monkeypatch.setattr("torch.cpu._is_amx_tile_supported", lambda: False)
    assert resolve_dtype("auto", cpu) == torch.float32
    monkeypatch.setattr("torch.cpu._is_avx512_bf16_supported", lambda: True)
    assert resolve_dtype("auto", cpu) == torch.bfloat16
    assert resolve_dtype("fp32", cpu) == torch.float32


def test_blocks_are_the_outermost_list() -> None:
    class Config:
        num_hidden_layers = 2

    inner = torch.nn.ModuleList([torch.nn.Identity(), torch.nn.Identity()])
    blocks = torch.nn.ModuleList([torch.nn.Sequential(inner), torch.nn.Identity()])
    network = torch.nn.ModuleDict({"layers": blocks})
    assert find_blocks(network, Config()) is blocks
    network["more"] = torch.nn.ModuleList([torch.nn.Identity(), torch.nn.Identity()])
    with pytest.raises(InputError, match="expected one list of 2 encoder blocks"):
        find_blocks(network, Config())
