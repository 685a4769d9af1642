"""The dictionaries of the dict protocol as FreeDict makes them: entries for readers, of which we keep plain word pairs.

An entry is a headword line - the word, its pronunciation between slashes, tags in angle brackets - and a body. The
body's first line holds the translations; where a word has several senses, every line that begins with a number does.
What else there is (definitions, examples, notes, synonyms, cross-references) is indented or follows such a line.
"""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import regex

from x2s.errors import FileFormatError, InputError

_DIGITS = {
    character: value
    for value, character in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}
_REMARK = regex.compile(r"<[^>]*>|\[[^\]]*\]|\([^)]*\)|\{[^}]*\}|\"[^\"]*\"")
_SENSE = regex.compile(r"\d+\. +")
_TRAILING_SENSE = regex.compile(r"\s\d+\.$")
_BETWEEN = regex.compile("[,;\u060c]")
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}\p{Nd}\u200c\u200d'’-]*(?<![-'’])")
_CROSS_REFERENCE = regex.compile(r"\(bak\.?\)|\bsee:")  # what follows is a headword, not a translation


def read_dictd(path: Path) -> Iterator[tuple[str, str]]:
    """Pairs of single words in a `.dict.dz` or `.dict` file, in its order, duplicates included.

    Left out: entries and translations of several words, abbreviations with a full stop, parts of words ("halpa-").

    Raises:
        InputError: The index is not there.
        FileFormatError: A damaged dictionary or index.
    """
    text = _content(path)
    for start, end in _spans(path, len(text)):
        try:
            entry = text[start:end].decode("utf-8")
        except UnicodeDecodeError as error:
            raise FileFormatError(path, None, f"expected UTF-8 in the entry at byte {start}: {error}") from None
        yield from entry_pairs(entry)


def entry_pairs(entry: str) -> Iterator[tuple[str, str]]:
    """The pairs of one entry."""
    head, _, body = entry.lstrip("\n").partition("\n")
    word = head.split(" /", 1)[0].split(" <", 1)[0]
    if not _WORD.fullmatch(word):  # so is none of the entries about the dictionary itself, "00-database-info"
        return
    for line in _translation_lines(body.split("\n")):
        for translation in _translations(line):
            yield word, translation


def _translation_lines(body: list[str]) -> list[str]:
    # Two or more blanks indent what is no translation; one comes from a label in brackets that begins the line.
    lines = [line for line in body if line.strip() and not line.startswith("  ")]
    if lines and _SENSE.match(lines[0]):
        return [line[match.end() :] for line in lines if (match := _SENSE.match(line))]
    return lines[:1]


def _translations(line: str) -> Iterator[str]:
    line = _CROSS_REFERENCE.split(line)[0]
    line = _TRAILING_SENSE.sub("", _REMARK.sub(" ", line).strip())
    for part in _BETWEEN.split(line.removesuffix(".")):
        translation = part.strip()
        if _WORD.fullmatch(translation):
            yield translation


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FileFormatError(path, None, f"expected a whole dictzip file: {error}. Get it again.") from error


def _spans(path: Path, size: int) -> list[tuple[int, int]]:
    """Start and end of each entry, in the order of the dictionary."""
    index = path.with_name(path.name.removesuffix(".dz").removesuffix(".dict") + ".index")
    if not index.is_file():
        raise InputError(f"{index}: no such file; a dictd dictionary needs its index beside it")
    spans = set()
    for number, line in enumerate(index.read_bytes().split(b"\n"), start=1):
        if not line:
            continue
        fields = line.split(b"\t")
        try:
            start, length = (_number(field.decode("ascii")) for field in fields[1:3])
        except (ValueError, KeyError):
            raise FileFormatError(
                index, number, f"expected 'headword<TAB>offset<TAB>length', got {line[:80]!r}"
            ) from None
        if start + length > size:
            raise FileFormatError(
                index, number, f"expected an entry within the dictionary's {size} bytes, got {start} + {length}; "
                f"do {index.name} and {path.name} belong together?"
            )  # fmt: skip
        spans.add((start, start + length))
    return sorted(spans)


def _number(digits: str) -> int:
    value = 0
    for digit in digits:
        value = value * 64 + _DIGITS[digit]
    return value
