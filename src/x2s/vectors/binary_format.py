"""Reading word2vec's binary format: a header line, then each word, a space and d little-endian float32."""

from io import BufferedReader
from pathlib import Path

import numpy as np

from x2s import progress
from x2s.errors import FileFormatError

_READ_BYTES = 1 << 22
_LONGEST_HEADER = 100
_LONGEST_WORD = 1 << 16
_WORDS_PER_REPORT = 10_000


def looks_binary(start: bytes) -> bool:
    """Whether the start of a file is a header followed by something that is no line of text.

    Text has no control characters besides white space; among the bytes of float32 numbers they are frequent.
    """
    header, _, rest = start.partition(b"\n")
    if _header(header) is None:
        return False
    vectors = rest.partition(b" ")[2][: 1 << 12]
    return any(byte < 9 or 13 < byte < 28 for byte in vectors)


def _header(line: bytes) -> tuple[int, int] | None:
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields) or int(fields[1]) < 1:
        return None
    return int(fields[0]), int(fields[1])


def read_binary(file: BufferedReader, path: str | Path, limit: int | None, errors: str) -> tuple[list[str], np.ndarray]:
    """Read words (duplicates included) and vectors [n, d]; see `formats.read_word2vec`."""
    header = _header(file.readline(_LONGEST_HEADER))
    if header is None:
        raise FileFormatError(path, 1, "expected a header 'words dimension'; is it text (binary=False)?")
    promised, dimension = header
    wanted = promised if limit is None else min(promised, limit)
    words: list[str] = []
    try:
        matrix = np.empty((wanted, dimension), dtype=np.float32)
    except (MemoryError, ValueError):
        raise FileFormatError(path, 1, f"the header promises {promised} x {dimension} numbers: too many") from None
    report = progress.start(f"read {Path(path).name}", wanted, "words")
    size = 4 * dimension
    buffer, position = b"", 0
    while len(words) < wanted:
        space = buffer.find(b" ", position)
        if space < 0 or len(buffer) - space - 1 < size:
            more = file.read(max(_READ_BYTES, size))
            if not more or (space < 0 and len(buffer) - position > _LONGEST_WORD):
                raise _cut_short(path, promised, len(words), more)
            buffer, position = buffer[position:] + more, 0
            continue
        matrix[len(words)] = np.frombuffer(buffer, "<f4", dimension, space + 1)
        # Some writers end each vector with a line feed, some do not.
        words.append(_decoded(buffer[position:space].lstrip(b"\n"), len(words) + 1, path, errors))
        position = space + 1 + size
        if len(words) % _WORDS_PER_REPORT == 0:
            report.advance(_WORDS_PER_REPORT)
    if limit is None and (buffer[position:] + file.read(1 << 10)).strip(b"\n"):
        raise FileFormatError(
            path, None, f"expected {promised} words of dimension {dimension} as the header says, got more after them. "
            f"Correct the header, or pass limit={promised}."
        )  # fmt: skip
    return _finite(path, words, matrix)


def _cut_short(path: str | Path, promised: int, found: int, more: bytes) -> FileFormatError:
    if more:
        return FileFormatError(
            path, None, f"expected word {found + 1} and a space, got no space for {_LONGEST_WORD} bytes; "
            "is the dimension in the header right?"
        )  # fmt: skip
    return FileFormatError(
        path, None, f"expected {promised} words as the header says, but the file ends within word {found + 1}. "
        f"Get it again, or pass limit={found} if that is enough."
    )  # fmt: skip


def _decoded(word: bytes, number: int, path: str | Path, errors: str) -> str:
    try:
        return word.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise FileFormatError(
            path, None, f"expected UTF-8, got 0x{word[error.start]:02x} at byte {error.start + 1} of word {number}; "
            "pass errors='replace', or check the dimension in the header."
        ) from None  # fmt: skip


def _finite(path: str | Path, words: list[str], matrix: np.ndarray) -> tuple[list[str], np.ndarray]:
    for start in range(0, len(words), _WORDS_PER_REPORT):
        bad = np.flatnonzero(~np.isfinite(matrix[start : start + _WORDS_PER_REPORT]).all(axis=1))
        if bad.size:
            row = start + int(bad[0])
            raise FileFormatError(
                path, None, f"expected finite numbers, but word {row + 1} ({words[row]!r}) has NaN or infinity"
            )
    return words, matrix
