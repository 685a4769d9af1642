"""LibreOffice's help out of the Debian package of a language: real prose in 20 of the 40 languages, no hub needed."""

import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Literal

from x2s import progress
from x2s.corpus.sources.apt import PackageCache
from x2s.corpus.sources.help_pages import HelpParagraph, page_paragraphs
from x2s.errors import InputError, UnavailableError
from x2s.files import whole
from x2s.languages import Language, get_language

_PREFIX = "libreoffice-help-"
_SUFFIXES = {"en": "en-us", "zh": "zh-cn"}
_SENTENCE_BOUNDARY = "\u2029"
_NO_LETTERS = re.compile(r"[\W\d_]+")
_FORMAT = 1  # of the stored paragraphs; a change of the parser's rules raises it


class LibreOfficeHelp:
    """Paragraphs of `libreoffice-help-XX`, without those that are still English.

    The package is downloaded once to `cache_folder` (without root), unpacked and parsed there. Processes that share
    the folder wait for each other.

    Args:
        language: The language or its code.
        cache_folder: Where packages and parsed text are kept for the next time.
        unit: "paragraph": each heading, paragraph and table cell; most are one sentence. "page": all of a help page as
            one paragraph, whose parts stay apart as sentences.

    Raises:
        UnavailableError: No apt-get or dpkg-deb, no package for the language, or the archive is out of reach.
    """

    licence = "MPL-2.0"

    def __init__(
        self, language: Language | str, cache_folder: str | Path, unit: Literal["paragraph", "page"] = "paragraph"
    ) -> None:
        if unit not in ("paragraph", "page"):
            raise InputError(f"unit: expected paragraph or page, got {unit!r}.")
        self.language = get_language(language) if isinstance(language, str) else language
        self.unit = unit
        self.package = _package(self.language.code)
        self.name = f"LibreOffice help ({self.package})"
        self.left_out: dict[str, int] = {}
        """Paragraphs of the package that the last reading left out, by reason."""
        self.fraction_read = 0.0
        self._cache = PackageCache(cache_folder)

    @property
    def revision(self) -> str:
        """Version of the Debian package."""
        return self._text(self.package)[1]

    def paragraphs(self) -> Iterator[str]:
        """The paragraphs in the order of the pages' paths.

        Raises:
            UnavailableError: As for the class.
        """
        entries = self.entries()
        done = 0
        for _, page in groupby(entries, key=lambda entry: entry.page):
            texts = [entry.text for entry in page]
            if self.unit == "page":
                yield _SENTENCE_BOUNDARY.join(texts)
            else:
                yield from texts
            done += len(texts)
            self.fraction_read = done / len(entries)

    def entries(self) -> list[HelpParagraph]:
        """The paragraphs with the page and element that they come from, which are the same in all languages.

        Raises:
            UnavailableError: As for the class.
        """
        stored, _ = self._text(self.package)
        entries = list(_read(stored))
        kept = entries
        if self.language.code != "en":
            english_text, _ = self._text(_package("en"))
            english = {_letters(entry.text) for entry in _read(english_text)}
            kept = [entry for entry in entries if _letters(entry.text) not in english]
        self.left_out = {"untranslated": len(entries) - len(kept)}
        return kept

    def _text(self, package: str) -> tuple[Path, str]:
        """Where the package's parsed paragraphs are, and its version."""
        try:
            folder, version = self._cache.extracted(package)
        except LookupError:
            known = sorted(name.removeprefix(_PREFIX) for name in self._cache.available(_PREFIX))
            known = [name for name in known if name != "common"]
            raise UnavailableError(
                f"LibreOffice help: the archive has no package {package} for {self.language.name}. "
                f"There are: {' '.join(known)}. Take this language's text from files or from the hub."
            ) from None
        stored = self._cache.folder / "text" / f"{folder.name}.v{_FORMAT}.jsonl"
        with self._cache.locked():
            if not stored.exists():
                _parse(folder, stored, self.name)
        return stored, version


def _package(code: str) -> str:
    return _PREFIX + _SUFFIXES.get(code, code)


def _parse(folder: Path, stored: Path, name: str) -> None:
    """Parse all help pages of an unpacked package and store their paragraphs as JSON lines."""
    roots = sorted(folder.glob("usr/share/libreoffice/help/*/text"))
    pages = [(page, root) for root in roots for page in sorted(root.rglob("*.html"))]
    if not pages:
        raise UnavailableError(
            f"{name}: no help pages under usr/share/libreoffice/help in the package. It may be of a release with "
            "another layout; take the text from local files instead."
        )
    with whole(stored) as beside, beside.open("w", encoding="utf-8") as file:
        for page, root in progress.track(pages, f"parse {name}", len(pages), "pages"):
            html = page.read_text(encoding="utf-8", errors="replace")
            for entry in page_paragraphs(html, page.relative_to(root).as_posix()):
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _letters(text: str) -> str:
    """The letters of a text: what is left untranslated can still differ in its spaces, dashes and numbers."""
    return _NO_LETTERS.sub("", text).casefold()


def _read(stored: Path) -> Iterator[HelpParagraph]:
    with stored.open(encoding="utf-8") as file:
        for line in file:
            yield HelpParagraph(*json.loads(line))
