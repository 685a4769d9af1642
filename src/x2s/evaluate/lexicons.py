"""Bilingual lexicons: which translations of a word count as right."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

from x2s.errors import FileFormatError, InputError
from x2s.evaluate.dictd import read_dictd

LexiconFormat = Literal["muse", "xling", "panlex", "freedict"]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Lexicon:
    """Word pairs; a source word may have several translations, all of them right."""

    source_language: str
    target_language: str
    pairs: tuple[Pair, ...]
    """Distinct, in the order of the file."""
    name: str
    revision: str
    """Checksum of the file or files, "sha256:...": equal revisions give equal pairs."""

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.pairs)

    def translations(self) -> dict[str, tuple[str, ...]]:
        """The translations of each source word, both in the order of the file."""
        found: dict[str, list[str]] = {}
        for source, target in self.pairs:
            found.setdefault(source, []).append(target)
        return {word: tuple(targets) for word, targets in found.items()}

    def reversed(self) -> Self:
        """The same pairs from target to source."""
        return replace(
            self,
            source_language=self.target_language,
            target_language=self.source_language,
            pairs=tuple((target, source) for source, target in self.pairs),
        )

    def lowercased(self, source: bool = True, target: bool = True) -> Self:
        """The pairs in lower case (on both sides or one), duplicates that arise taken out."""
        pairs = ((a.lower() if source else a, b.lower() if target else b) for a, b in self.pairs)
        return replace(self, pairs=tuple(dict.fromkeys(pairs)))


def read_lexicon(
    path: str | Path | Sequence[str | Path],
    format: LexiconFormat = "muse",
    source: str = "",
    target: str = "",
    *,
    name: str | None = None,
) -> Lexicon:
    """Read a lexicon from one file, or several as one (MUSE's train and test parts, say).

    Formats:
        - "muse": `source target` or `source<TAB>target` lines, several for a word with several translations; put in
          lower case, as MUSE's evaluation does.
        - "xling" and "panlex" (`.tsv`, `.cc.trans`): `source<TAB>target` lines, case kept, spaces allowed in words.
        - "freedict": a dictd dictionary, `.dict.dz` or `.dict` with its `.index` beside it.

    Raises:
        InputError: No such file, or an unknown format.
        FileFormatError: Naming the line that is no pair, or the wrong encoding; also where no pair is left.
    """
    readers: dict[str, Callable[[Path], Iterator[Pair]]] = {
        "muse": _muse,
        "xling": _tab_separated,
        "panlex": _tab_separated,
        "freedict": read_dictd,
    }
    if format not in readers:
        raise InputError(f"lexicon format must be one of {', '.join(readers)}, got {format!r}")
    paths = [Path(path)] if isinstance(path, str | Path) else [Path(part) for part in path]
    if not paths:
        raise InputError("expected the path of a lexicon, got none")
    pairs: dict[Pair, None] = {}
    for part in paths:
        if not part.is_file():
            raise InputError(f"{part}: no such lexicon")
        found = dict.fromkeys(readers[format](part))
        if not found:
            raise FileFormatError(part, None, "expected pairs of words, got none")
        pairs |= found
    names = name or " + ".join(part.name for part in paths)
    return Lexicon(source, target, tuple(pairs), names, checksum(paths))


def checksum(paths: Sequence[Path]) -> str:
    """SHA-256 over the contents of the files in this order."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return f"sha256:{digest.hexdigest()}"


def _muse(path: Path) -> Iterator[Pair]:
    for number, line in _lines(path):
        fields = line.split("\t") if "\t" in line else line.split(" ")
        yield _pair([field.lower() for field in fields], path, number, line, "'source target'")


def _tab_separated(path: Path) -> Iterator[Pair]:
    for number, line in _lines(path):
        yield _pair(line.split("\t"), path, number, line, "'source<TAB>target'")


def _pair(fields: list[str], path: Path, number: int, line: str, expected: str) -> Pair:
    words = [field.strip(" ") for field in fields]
    if len(words) != 2 or not all(words):
        raise FileFormatError(
            path, number, f"expected {expected}, got {line[:80]!r}. Is this a lexicon, and is its format given right?"
        )
    return words[0], words[1]


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    # Not str.splitlines: words may hold U+0085 or U+2028.
    for number, raw in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            line = raw.decode("utf-8").rstrip("\r ")
        except UnicodeDecodeError as error:
            raise FileFormatError(path, number, f"expected UTF-8: {error}. Convert the file.") from None
        if line:
            yield number, line
