"""Where a full stop does not end a sentence, and the plain rule for where it does."""

from functools import cache

import regex

from x2s.corpus.abbreviations import ABBREVIATIONS, ORDINAL_STOP

# `。《書名》`: ICU leaves an opening mark with the sentence before it.
OPENING_AT_END = regex.compile(r"[《〈「『（【(\[“‘«¿¡]+\s*$")
_NO_SPACE_NEEDED = regex.compile(r"[。！？…｡．][”’」』）\"']*$")
_ASKED_OR_CRIED = regex.compile(r"[!?]+[\"'”’»)\]]*\s*$")
_GOES_ON = regex.compile(r"[\"'“”«(]*\p{Ll}")


@cache
def never_ends(code: str) -> regex.Pattern[str]:
    """Matches a piece of text that cannot be the whole of a sentence: its last full stop belongs to a word."""
    patterns = [r"(?<![\p{L}\p{N}.'’-])\p{Lu}\.\s*$"]
    if code in ABBREVIATIONS:
        words = "|".join(map(regex.escape, sorted(ABBREVIATIONS[code])))
        patterns.append(rf"(?<![\p{{L}}\p{{N}}])(?:{words})\.\s*$")
    if code in ORDINAL_STOP:
        patterns.append(r"(?<![\p{L}\p{N}.,])\d{1,2}\.\s*$")
    return regex.compile("|".join(patterns))


def goes_on(before: str, after: str, code: str) -> bool:
    """Whether two pieces that ICU cut apart are one sentence."""
    if not before[-1:].isspace() and not _NO_SPACE_NEEDED.search(before):
        return True  # `?` inside an address
    if _ASKED_OR_CRIED.search(before) and _GOES_ON.match(after):
        return True  # `"What?" he asked.`
    return never_ends(code).search(before) is not None


@cache
def plain_end() -> regex.Pattern[str]:
    """A run of terminal marks with what closes after it, before a space."""
    return regex.compile(r"[.!?…。！？؟।]+[\"'”’»)\]]*(?:\s+|$)|[。！？]+[”’」』）]*")
