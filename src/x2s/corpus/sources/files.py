"""Local files: plain text, JSON lines and Parquet, compressed or not, streamed in sorted order."""

import glob
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from x2s.corpus.sources.compressed import COMPRESSIONS, opened
from x2s.errors import FileFormatError, InputError

Layout = Literal["auto", "lines", "blank"]
_FORMATS = (".txt", ".jsonl", ".parquet")
_SNIFFED = 1 << 20  # bytes in which layout="auto" looks for a blank line
_LONGEST_LINE = 1 << 26  # bytes; a longer one is no text, and would not fit in bounded memory
_LONGEST_PARAGRAPH = 1 << 20  # characters; a longer one is cut at a line break
_BLOCK = 1 << 20
_ROWS = 1024


class FileSource:
    """Paragraphs of local files, read in sorted order of their paths.

    Args:
        patterns: One path or glob, or several: `*.txt`, `*.jsonl`, `*.parquet`, each also with `.gz`, `.xz` or `.zst`;
            `**` matches folders. A file that several patterns match is read once.
        field: The JSON field or Parquet column that holds the text.
        layout: What separates paragraphs. "lines": every line is one. "blank": blank lines separate them, and the
            lines between are joined. "auto": text files are "blank" if a blank line between two others is found in
            their first MB; JSON and Parquet texts are "lines".
        licence: What the report says about the terms of use.

    Raises:
        InputError: A pattern matches no file, or a file of an unknown kind.
    """

    def __init__(
        self,
        patterns: str | Path | Iterable[str | Path],
        field: str = "text",
        *,
        layout: Layout = "auto",
        licence: str = "as given by the owner of the files",
    ) -> None:
        if layout not in ("auto", "lines", "blank"):
            raise InputError(f"layout: expected auto, lines or blank, got {layout!r}.")
        given = [patterns] if isinstance(patterns, str | Path) else list(patterns)
        self.files = _matching(given)
        self.field = field
        self.layout: Layout = layout
        self.licence = licence
        self.name = f"files {', '.join(Path(str(pattern)).name for pattern in given)}"
        self._sizes = [path.stat().st_size for path in self.files]
        self._bytes_before = 0
        self._raw: BinaryIO | None = None
        self._revision: str | None = None

    @property
    def revision(self) -> str:
        """Checksum over the names, sizes and contents of the files, without their folders."""
        if self._revision is None:
            self._revision = checksum(self.files)
        return self._revision

    @property
    def fraction_read(self) -> float:
        """Share of the files' bytes read so far."""
        position = self._raw.tell() if self._raw and not self._raw.closed else 0
        return min((self._bytes_before + position) / max(sum(self._sizes), 1), 1.0)

    def paragraphs(self) -> Iterator[str]:
        """The paragraphs of all files, streamed; empty ones are left out.

        Raises:
            FileFormatError: A binary file, bytes that are no UTF-8, a missing field, broken JSON, truncated data.
        """
        self._bytes_before = 0
        for path, size in zip(self.files, self._sizes, strict=True):
            match _format(path):
                case ".txt":
                    yield from self._text(path)
                case ".jsonl":
                    yield from self._json_lines(path)
                case _:
                    yield from self._parquet(path)
            self._bytes_before += size

    def _text(self, path: Path) -> Iterator[str]:
        layout = _sniffed_layout(path) if self.layout == "auto" else self.layout
        with opened(path) as (file, self._raw):
            yield from split_paragraphs((line for _, line in _lines(path, file)), layout)

    def _json_lines(self, path: Path) -> Iterator[str]:
        layout = "lines" if self.layout == "auto" else self.layout
        with opened(path) as (file, self._raw):
            for number, line in _lines(path, file):
                if line and not line.isspace():
                    yield from split_paragraphs(_json_text(path, number, line, self.field).splitlines(), layout)

    def _parquet(self, path: Path) -> Iterator[str]:
        layout = "lines" if self.layout == "auto" else self.layout
        with _seekable(path) as self._raw:
            try:
                file = pq.ParquetFile(self._raw)
                _check_column(path, file.schema_arrow, self.field)
                for batch in file.iter_batches(batch_size=_ROWS, columns=[self.field], use_threads=False):
                    for text in batch.column(0).to_pylist():
                        yield from split_paragraphs((text or "").splitlines(), layout)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError) as error:
                raise FileFormatError(path, None, f"expected a Parquet file: {error}") from error
            except OSError as error:
                if error.errno is not None:
                    raise
                raise FileFormatError(path, None, f"damaged Parquet data: {error}") from error


def split_paragraphs(lines: Iterable[str], layout: Literal["lines", "blank"]) -> Iterator[str]:
    """Paragraphs of a text: each line that is not blank, or each run of such lines joined by line breaks.

    A run of more than about a million characters is cut at a line break, so that memory stays bounded.
    """
    if layout == "lines":
        yield from (line for line in lines if line and not line.isspace())
        return
    run: list[str] = []
    length = 0
    for line in lines:
        blank = not line or line.isspace()
        if not blank:
            run.append(line)
            length += len(line)
        if run and (blank or length > _LONGEST_PARAGRAPH):
            yield "\n".join(run)
            run, length = [], 0
    if run:
        yield "\n".join(run)


def checksum(paths: Iterable[Path]) -> str:
    """`sha256:...` over name, size and content of each file."""
    total = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256")
            total.update(f"{path.name}\0{file.tell()}\0{content.hexdigest()}\n".encode())
    return f"sha256:{total.hexdigest()}"


def _matching(patterns: list[str | Path]) -> list[Path]:
    if not patterns:
        raise InputError("no files given: expected at least one path or pattern such as texts/*.txt.gz.")
    found: set[Path] = set()
    for pattern in patterns:
        path = Path(pattern).expanduser()
        if path.is_dir():
            raise InputError(f"{path} is a folder. To read the files in it, give a pattern: {path}/*.txt")
        matches = [path] if path.exists() else [Path(match) for match in glob.glob(str(path), recursive=True)]  # noqa: PTH207 - absolute patterns
        matches = [match for match in matches if not match.is_dir()]
        if not matches:
            raise InputError(f"{pattern}: no file matches (looked from {Path.cwd()}). Check the path and the pattern.")
        found.update(matches)
    for path in found:
        _format(path)
    return sorted(found)


def _format(path: Path) -> str:
    inner = Path(path.stem) if path.suffix in COMPRESSIONS else path
    if inner.suffix not in _FORMATS:
        raise InputError(
            f"{path}: expected a name that ends in {', '.join(_FORMATS)}, alone or followed by "
            f"{', '.join(COMPRESSIONS)}. Rename the file to say what it holds."
        )
    return inner.suffix


def _lines(path: Path, file: BinaryIO) -> Iterator[tuple[int, str]]:
    """Numbered lines without their ends and without a byte order mark, decoded strictly as UTF-8."""
    number = start = 0
    while line := file.readline(_LONGEST_LINE):
        number += 1
        if number == 1 and line.startswith(b"\xef\xbb\xbf"):
            line, start = line[3:], 3
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _not_utf8(path, number, start, line, error) from None
        if "\0" in text:
            raise FileFormatError(
                path,
                number,
                f"expected text, got a zero byte (byte {start + line.index(0)} of the file). Is it binary?",
            )
        if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
            raise FileFormatError(
                path, number, f"a line of more than {_LONGEST_LINE >> 20} MiB. Expected line breaks between paragraphs."
            )
        yield number, text.rstrip("\r\n")
        start += len(line)


def _not_utf8(path: Path, number: int, start: int, line: bytes, error: UnicodeDecodeError) -> FileFormatError:
    byte = f"byte 0x{line[error.start]:02x} (byte {error.start + 1} of the line, {start + error.start} of the file)"
    if number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
        return FileFormatError(path, 1, "expected UTF-8, got UTF-16. Convert: iconv -f UTF-16 -t UTF-8 FILE > NEW.txt")
    if b"\0" in line[: error.start + 64]:
        return FileFormatError(path, number, f"expected UTF-8 text, got {byte} among zero bytes: a binary file?")
    return FileFormatError(
        path,
        number,
        f"expected UTF-8, got {byte}. If it is an older encoding, convert it, for example: "
        "iconv -f ISO-8859-1 -t UTF-8 FILE > NEW.txt",
    )


def _sniffed_layout(path: Path) -> Literal["lines", "blank"]:
    with opened(path) as (file, _):
        head = b""
        while len(head) < _SNIFFED and (block := file.read(_SNIFFED - len(head))):
            head += block
    lines = head.strip().split(b"\n")
    return "blank" if any(not line.strip() for line in lines) else "lines"


def _json_text(path: Path, number: int, line: str, field: str) -> str:
    try:
        record: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise FileFormatError(
            path, number, f"expected one JSON object, got malformed JSON: {error.msg} at column {error.colno}."
        ) from None
    except RecursionError:
        raise FileFormatError(path, number, "expected one flat JSON object, got one nested too deeply.") from None
    if not isinstance(record, dict):
        raise FileFormatError(path, number, f"expected a JSON object, got {type(record).__name__}.")
    if field not in record:
        raise FileFormatError(
            path,
            number,
            f"no field {field!r}. Its fields are {', '.join(map(repr, record)) or 'none'}: name one of them.",
        )
    text = record[field]
    if text is not None and not isinstance(text, str):
        raise FileFormatError(path, number, f"field {field!r}: expected a string, got {type(text).__name__}.")
    return text or ""


def _check_column(path: Path, schema: pa.Schema, column: str) -> None:
    if column not in schema.names:
        raise FileFormatError(
            path, None, f"no column {column!r}. Its columns are {', '.join(map(repr, schema.names))}."
        )
    kind = schema.field(column).type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind)):
        raise FileFormatError(path, None, f"column {column!r}: expected strings, got {kind}.")


@contextmanager
def _seekable(path: Path) -> Iterator[BinaryIO]:
    """A Parquet file is read from its end, so a compressed one is unpacked to a temporary file first."""
    with opened(path) as (file, raw):
        if file is raw:
            yield raw
            return
        with tempfile.TemporaryFile() as unpacked:
            shutil.copyfileobj(file, unpacked, _BLOCK)
            unpacked.seek(0)
            yield unpacked
