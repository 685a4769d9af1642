"""Reading word vectors as text, fast: whole blocks through Arrow's CSV parser on all cores.

A block that is not a clean table (words with spaces, odd line ends, anything wrong) goes line by line through a
careful parser, which reads everything readable and names the line where it is not.
"""

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import BufferedReader
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from x2s import progress
from x2s.errors import FileFormatError

_BLOCK_BYTES = 1 << 22  # the fastest of 1, 4 and 16 MiB
_LONGEST_LINE = 1 << 26
_LINES_LOOKED_AT = 100
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class _Layout:
    """What the first lines say: words promised (None without a header) and numbers a line."""

    path: str | Path
    promised: int | None
    dimension: int
    errors: str


def read_text(file: BufferedReader, path: str | Path, limit: int | None, errors: str) -> tuple[list[str], np.ndarray]:
    """Read words (duplicates included) and vectors [n, d]; see `formats.read_word2vec`."""
    blocks = _blocks(file, path)
    head = next(blocks, b"").removeprefix(_BYTE_ORDER_MARK)
    layout = _layout(head, path, errors)
    if layout.promised is not None:
        head = head[head.index(b"\n") + 1 :] if b"\n" in head else b""
    rows = _Rows(layout, limit)
    report = progress.start(f"read {Path(path).name}", rows.wanted, "words")
    first_line = 1 if layout.promised is None else 2
    for words, vectors in _parsed(_with_first(head, blocks), first_line, layout):
        rows.add(words, vectors)
        report.advance(len(words))
        if limit is not None and len(rows.words) >= limit:
            break
    return rows.finished()


class _Rows:
    """The rows read so far, in a matrix that is allocated once where a header says how many come."""

    def __init__(self, layout: _Layout, limit: int | None) -> None:
        self.layout = layout
        self.limit = limit
        known = [number for number in (layout.promised, limit) if number is not None]
        self.wanted = min(known) if known else None
        self.words: list[str] = []
        self._surplus = 0
        self._blocks: list[np.ndarray] = []
        self._matrix: np.ndarray | None = None
        if layout.promised is not None:
            try:
                self._matrix = np.empty((self.wanted or 0, layout.dimension), dtype=np.float32)
            except (MemoryError, ValueError):
                raise FileFormatError(
                    layout.path, 1, f"the header promises {layout.promised} x {layout.dimension} numbers, more than "
                    "memory can hold; correct it if it is wrong, or read part of the file with limit="
                ) from None  # fmt: skip

    def add(self, words: list[str], vectors: np.ndarray) -> None:
        start = len(self.words)
        room = len(words) if self.wanted is None else min(len(words), self.wanted - start)
        self._surplus += len(words) - room
        self.words += words[:room]
        if self._matrix is None:
            self._blocks.append(vectors[:room])
        else:
            self._matrix[start : start + room] = vectors[:room]

    def finished(self) -> tuple[list[str], np.ndarray]:
        found = len(self.words) + self._surplus
        if self.limit is None and self.layout.promised is not None and found != self.layout.promised:
            raise FileFormatError(
                self.layout.path,
                1,
                f"expected {self.layout.promised} words as the header says, got {found}. Get the file again if it was "
                f"cut short; otherwise correct the header, or pass limit={min(found, self.layout.promised)}.",
            )
        if self._matrix is None:
            empty = np.empty((0, self.layout.dimension), dtype=np.float32)
            return self.words, np.concatenate([*self._blocks, empty])
        return self.words, self._matrix[: len(self.words)]


def _blocks(file: BufferedReader, path: str | Path) -> Iterator[bytes]:
    """Blocks of whole lines (the last may lack its line feed)."""
    rest = b""
    while block := file.read(_BLOCK_BYTES):
        cut = block.rfind(b"\n") + 1
        if cut:
            yield rest + block[:cut]
            rest = block[cut:]
        else:
            rest += block
        if len(rest) > _LONGEST_LINE:
            raise FileFormatError(path, None, f"expected lines, got {len(rest)} bytes without a line end; "
                                  "is it binary (binary=True), or not a file of word vectors?")  # fmt: skip
    if rest:
        yield rest


def _with_first(head: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from blocks


def _layout(head: bytes, path: str | Path, errors: str) -> _Layout:
    lines = [line.rstrip(b" \t\r") for line in head.split(b"\n", _LINES_LOOKED_AT + 1)[: _LINES_LOOKED_AT + 1]]
    header = lines[0].split()
    if len(header) == 2 and all(field.isdigit() for field in header):
        promised, dimension = int(header[0]), int(header[1])
        if dimension < 1:
            raise FileFormatError(path, 1, f"expected a header 'words dimension', got {lines[0].decode()!r}")
        _check_dimension([line for line in lines[1:] if line], dimension, path)
        return _Layout(path, promised, dimension, errors)
    fields = [len(line.split(b" ")) for line in lines if line]
    if not fields:
        raise FileFormatError(path, None, "expected word vectors, got an empty file")
    # Words may contain spaces, so the shortest line tells the dimension.
    dimension = min(fields) - 1
    if dimension < 1:
        line = next(number for number, content in enumerate(lines, 1) if content and b" " not in content)
        raise FileFormatError(
            path,
            line,
            f"expected a word and its numbers, got {_shown(lines[line - 1])}. Is this a file of word vectors?",
        )
    return _Layout(path, None, dimension, errors)


def _check_dimension(lines: list[bytes], dimension: int, path: str | Path) -> None:
    """Notice a header whose dimension is too small: otherwise numbers would pass for the ends of words."""
    surplus = {line.count(b" ") - dimension for line in lines}
    if len(lines) < 2 or len(surplus) != 1 or min(surplus) < 1:
        return
    (more,) = surplus
    if all(_is_number(field) for line in lines for field in line.split(b" ")[1 : 1 + more]):
        raise FileFormatError(
            path, 2, f"expected {dimension} numbers as the header says, got {dimension + more}. Correct the header."
        )


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def _parsed(blocks: Iterator[bytes], first_line: int, layout: _Layout) -> Iterator[tuple[list[str], np.ndarray]]:
    """Parse blocks on all cores, results in order."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = min(cores or 1, 8)
    with ThreadPoolExecutor(threads) as pool:
        pending: deque[Future[tuple[list[str], np.ndarray]]] = deque()
        try:
            for block in blocks:
                pending.append(pool.submit(_parse_block, block, first_line, layout))
                first_line += block.count(b"\n")
                if len(pending) > threads + 1:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def _parse_block(block: bytes, first_line: int, layout: _Layout) -> tuple[list[str], np.ndarray]:
    table = _clean_table(block, layout.dimension)
    if table is not None:
        words, columns = table.column(0).to_pylist(), table.columns[1:]
        vectors = np.empty((len(words), layout.dimension), dtype=np.float32)
        with np.errstate(over="ignore"):
            for number, column in enumerate(columns):
                vectors[:, number] = column.to_numpy()
        if np.isfinite(vectors).all():
            return words, vectors
    return _parse_lines(block, first_line, layout)


def _clean_table(block: bytes, dimension: int) -> pa.Table | None:
    """The block as a table of a word and float64 numbers, None if it is not as regular as that."""
    if b" \n" in block:  # fastText ends each line with a space
        block = block.replace(b" \n", b"\n")
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
        if b"\r" in block:  # Arrow would end a line there
            return None
    names = [str(number) for number in range(dimension + 1)]
    types = dict.fromkeys(names, pa.float64())
    types["0"] = pa.string()
    try:
        return pyarrow.csv.read_csv(
            pa.BufferReader(block),
            read_options=pyarrow.csv.ReadOptions(
                column_names=names, use_threads=False, block_size=max(len(block), 1) + 1
            ),
            parse_options=pyarrow.csv.ParseOptions(delimiter=" ", quote_char=False, double_quote=False),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=types, null_values=[], strings_can_be_null=False, check_utf8=True
            ),
        )
    except pa.ArrowInvalid:
        return None


def _parse_lines(block: bytes, first_line: int, layout: _Layout) -> tuple[list[str], np.ndarray]:
    words: list[str] = []
    vectors: list[np.ndarray] = []
    for number, raw in enumerate(block.split(b"\n"), first_line):
        line = raw.rstrip(b" \t\r")
        if line:
            word, vector = _parse_line(line, number, layout)
            words.append(word)
            vectors.append(vector)
    return words, np.array(vectors, dtype=np.float32).reshape(len(words), layout.dimension)


def _parse_line(line: bytes, number: int, layout: _Layout) -> tuple[str, np.ndarray]:
    path, dimension = layout.path, layout.dimension
    word, *fields = line.rsplit(b" ", dimension)
    if len(fields) != dimension or b"" in fields:
        word, *fields = line.rsplit(None, dimension)  # numbers separated by tabs or by several spaces
    if len(fields) != dimension:
        raise FileFormatError(
            path, number, f"expected a word and {dimension} numbers, got {len(fields) + 1} fields: {_shown(line)}"
        )
    for field in fields:
        if not _is_number(field):
            raise FileFormatError(
                path, number, f"expected {dimension} numbers at the end of the line, got {_shown(field)} among them"
            )
    with np.errstate(over="ignore"):
        vector = np.array([float(field) for field in fields]).astype(np.float32)
    if not np.isfinite(vector).all():
        field = next(islice((fields[at] for at in np.flatnonzero(~np.isfinite(vector))), 1))
        raise FileFormatError(path, number, f"expected finite numbers, got {_shown(field)}; take the line out")
    try:
        return word.decode("utf-8", layout.errors), vector
    except UnicodeDecodeError as error:
        raise FileFormatError(
            path, number, f"expected UTF-8, got 0x{word[error.start]:02x} at byte {error.start + 1} of the line. "
            "Convert the file, or pass errors='replace'."
        ) from None  # fmt: skip


def _shown(content: bytes) -> str:
    return repr(content[:60].decode("utf-8", "replace"))
