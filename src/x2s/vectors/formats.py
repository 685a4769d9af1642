"""Word2vec text and binary, fastText .vec and GloVe text, plain or gzipped.

What the reader makes of the oddities of published files:

- Only a line feed ends a line, and only spaces separate fields; no-break spaces and the like belong to words.
- Lines are split from the right by the known dimension, so words may contain spaces.
- A missing header (GloVe) is noticed; a header that promises more or fewer words than there are is an error,
  unless `limit` says how many are wanted.
- The first of several lines for one word counts; one warning says how many others were left out.
- Ragged lines, other dimensions, NaN, infinity and wrong encoding are errors that name the line.
"""

import gzip
import warnings
import zlib
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import pyarrow as pa

from x2s.errors import FileFormatError, InputError
from x2s.files import whole
from x2s.vectors.binary_format import looks_binary, read_binary
from x2s.vectors.text_format import read_text

_ROWS_PER_WRITE = 2048
_SNIFFED_BYTES = 1 << 16


def read_word2vec(
    path: str | Path,
    binary: bool | None = None,
    limit: int | None = None,
    *,
    errors: Literal["strict", "replace"] = "strict",
) -> tuple[tuple[str, ...], np.ndarray]:
    """Read distinct words and their vectors [n, d] float32.

    Numbers are rounded as `numpy.float32(text)` rounds them (by way of float64), bit for bit.

    Args:
        path: The file; gzip is recognised by its content.
        binary: None looks at the content.
        limit: Read only this many lines.
        errors: "replace" turns bytes that are not UTF-8 into U+FFFD instead of raising.

    Raises:
        InputError: No such file, or a limit below 1.
        FileFormatError: Naming the line (binary: the word) and what was expected there.
    """
    if limit is not None and limit < 1:
        raise InputError(f"limit must be at least 1, got {limit}")
    try:
        with _open(path) as file:
            if binary is None:
                binary = looks_binary(file.peek(_SNIFFED_BYTES))
            words, matrix = (read_binary if binary else read_text)(file, path, limit, errors)
    except (FileNotFoundError, IsADirectoryError):
        raise InputError(f"{path}: no such file of word vectors") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FileFormatError(
            path, None, f"expected a whole gzip file: {error}. It was cut short or damaged; get it again."
        ) from error
    return _distinct(path, words, matrix)


def _open(path: str | Path) -> BufferedReader:
    with Path(path).open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    if zipped:
        # A large buffer of its own, so that `peek` sees enough.
        return BufferedReader(gzip.GzipFile(path, "rb"), _SNIFFED_BYTES)
    return BufferedReader(Path(path).open("rb", buffering=0), _SNIFFED_BYTES)


def _distinct(path: str | Path, words: list[str], matrix: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    first: dict[str, int] = {}
    for row, word in enumerate(words):
        first.setdefault(word, row)
    left_out = len(words) - len(first)
    if not left_out:
        return tuple(words), matrix
    example = next(word for row, word in enumerate(words) if first[word] != row)
    warnings.warn(f"{path}: left out {left_out} lines for words that were there before, e.g. {example!r}", stacklevel=4)
    return tuple(first), matrix[np.fromiter(first.values(), dtype=np.int64)]


def write_word2vec(path: str | Path, words: Sequence[str], matrix: np.ndarray, binary: bool = False) -> None:
    """Write words and vectors [n, d]; gzipped if the name ends in .gz; whole or not at all.

    Text holds the shortest decimals that give the same float32 back.

    Raises:
        InputError: A word that the format cannot hold: with a line break or a lone surrogate, or, in binary, with a
            space.
        UnavailableError: No space, or no permission.
    """
    if matrix.shape[1] == 0:
        raise InputError("vectors of dimension 0 cannot be written")
    forbidden = "\n " if binary else "\n"
    for word in words:
        if any(character in word for character in forbidden):
            remedy = "; word2vec text can hold spaces" if binary and "\n" not in word else ""
            raise InputError(f"word2vec {'binary' if binary else 'text'} cannot hold the word {word!r}{remedy}")
    try:
        "".join(words).encode()
    except UnicodeEncodeError:
        broken = next(
            word for word in words if word.encode("utf-8", "replace") != word.encode("utf-8", "surrogatepass")
        )
        raise InputError(f"UTF-8 cannot hold the word {broken!r} (a lone surrogate); repair or drop it") from None
    with whole(path) as beside:
        zipped = Path(path).suffix == ".gz"
        with gzip.open(beside, "wb", compresslevel=6) if zipped else beside.open("wb") as file:
            file.write(f"{len(words)} {matrix.shape[1]}\n".encode())
            for start in range(0, len(words), _ROWS_PER_WRITE):
                block = np.ascontiguousarray(matrix[start : start + _ROWS_PER_WRITE], dtype=np.float32)
                (_write_binary if binary else _write_text)(file, words[start : start + _ROWS_PER_WRITE], block)


class _Writable(Protocol):
    def write(self, data: bytes, /) -> object: ...


def _write_text(file: _Writable, words: Sequence[str], block: np.ndarray) -> None:
    numbers = pa.array(block.ravel()).cast(pa.string()).to_pylist()
    width = block.shape[1]
    for row, word in enumerate(words):
        file.write(f"{word} {' '.join(numbers[row * width : (row + 1) * width])}\n".encode())


def _write_binary(file: _Writable, words: Sequence[str], block: np.ndarray) -> None:
    little_endian = block.astype("<f4", copy=False)
    for word, vector in zip(words, little_endian, strict=True):
        file.write(word.encode() + b" " + vector.tobytes() + b"\n")
