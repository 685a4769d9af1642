"""FreeDict's dictionaries from the Debian packages `dict-freedict-XXX-YYY`."""

from pathlib import Path

from x2s.corpus.sources.apt import PackageCache
from x2s.errors import UnavailableError
from x2s.evaluate.lexicons import Lexicon, checksum, read_lexicon
from x2s.files import whole
from x2s.languages import get_language

_PREFIX = "dict-freedict-"


class NoDictionaryError(UnavailableError):
    """The archive can be reached and has no such dictionary."""


_PARSER = 1  # of the kept pairs; a change of the parser's rules raises it


def freedict(source: str, target: str, cache_folder: str | Path) -> Lexicon:
    """The word pairs that FreeDict has for two languages, of both its directions together.

    Dictionaries are made for one direction each, of very unequal size (36,000 entries English-Turkish, 1,000
    Turkish-English), so pairs of the opposite one are taken in turned around. Packages are downloaded once to
    `cache_folder`, without root.

    Args:
        source: ISO code of the source language.
        target: ISO code of the target language.
        cache_folder: Where packages are kept.

    Raises:
        NoDictionaryError: FreeDict has neither direction.
        UnavailableError: apt is absent, or the archive cannot be reached.
    """
    codes = get_language(source).iso639_3, get_language(target).iso639_3
    cache = PackageCache(cache_folder)
    pairs: dict[tuple[str, str], None] = {}
    names, files = [], []
    for first, second in (codes, codes[::-1]):
        package = _package(cache, f"{_PREFIX}{first}-{second}")
        if package is None:
            continue
        folder, version = package
        dictionary = folder / "usr" / "share" / "dictd" / f"freedict-{first}-{second}.dict.dz"
        found = _pairs(dictionary, cache.folder / "freedict" / f"{folder.name}.v{_PARSER}.tsv")
        if (first, second) != codes:
            found = tuple((right, left) for left, right in found)
        pairs.update(dict.fromkeys(found))
        names.append(f"{first}-{second} {version}")
        files.append(dictionary)
    if not files:
        there = [name.removeprefix(_PREFIX) for name in cache.available(_PREFIX)]
        near = [pair for pair in there if codes[0] in pair.split("-") or codes[1] in pair.split("-")]
        raise NoDictionaryError(
            f"FreeDict has no dictionary for {codes[0]} and {codes[1]} in the Debian archive. With one of the two it "
            f"has: {' '.join(near) or 'none'}. Give a lexicon file instead."
        )
    return Lexicon(source, target, tuple(pairs), f"FreeDict {', '.join(names)}", checksum(files))


def _pairs(dictionary: Path, kept: Path) -> tuple[tuple[str, str], ...]:
    """The pairs of a dictionary, parsed once (the German one has a million entries)."""
    if not kept.exists():
        pairs = read_lexicon(dictionary, "freedict").pairs
        with whole(kept) as beside:
            beside.write_text("".join(f"{left}\t{right}\n" for left, right in pairs), encoding="utf-8")
    return read_lexicon(kept, "xling").pairs


def _package(cache: PackageCache, name: str) -> tuple[Path, str] | None:
    """Where the package is unpacked, and its version; None if the archive has no such package."""
    # Asked first: looking for an absent package in vain costs an update of the package lists.
    if (there := cache.available(_PREFIX)) and name not in there:
        return None
    try:
        return cache.extracted(name)
    except (LookupError, UnavailableError):
        # On a machine without package lists, the attempt has fetched some: then they tell.
        if (there := cache.available(_PREFIX)) and name not in there:
            return None
        raise
