"""What ICU's sentence boundaries get wrong: cuts that are none, cuts it does not make, marks on the wrong side."""

from functools import cache

import regex

from x2s.corpus.abbreviations import ABBREVIATIONS, ORDINAL_STOP

_CLOSING = r"[\"'”’»)\]]*"

# ICU cuts at no full stop that a small letter or a dash follows. After a word too long for an abbreviation it is an end
# all the same (much of the web writes small letters only), and so is one before the dash of a dialogue.
END_AFTER_ALL = regex.compile(
    rf"(?<=[\p{{Ll}}\p{{M}}]{{4}}\.{_CLOSING}\s+)(?=\S)|(?<=[.!?…]{_CLOSING}\s+)(?=[-–—]+\s?[\"'“«]*\p{{Lu}})"
)

# `。《书名》`: ICU leaves an opening mark with the sentence before it ...
OPENING_AT_END = regex.compile(r"[《〈「『（【(\[“‘«¿¡]+\s*$")
# ... and `! »`: a closing one after a space with the next. `»` opens in German, Finnish, Hungarian and others.
_CLOSING_AT_START = regex.compile(r"[”)\]」』]+[.,]?\s*")
_GUILLEMET_AT_START = regex.compile(r"[”)\]」』»]+[.,]?\s*")
_GUILLEMET_CLOSES = frozenset({"ar", "ca", "el", "es", "fa", "fr", "it", "pt", "ru", "uk"})

_NO_SPACE_NEEDED = regex.compile(r"[。！？…｡．][”’」』）\"']*$")

# `"What?" he asked.` Without quotes a small letter after `?` may begin a sentence, but in Turkish, which reports speech
# without them.
_SPEECH = {"tr": regex.compile(r"[!?]+\S?\s*$")}
_SPEECH_IN_QUOTES = regex.compile(r"[!?。！？]+[\"'”’»“)\]」』]+\s*$")
_GOES_ON = {"ja": regex.compile(r"と|って")}
_GOES_ON_SMALL = regex.compile(r"[\"'“”«(]*\p{Ll}")


@cache
def closing_at_start(code: str) -> regex.Pattern[str]:
    """Matches marks at the start of a piece that close the sentence before it."""
    return _GUILLEMET_AT_START if code in _GUILLEMET_CLOSES else _CLOSING_AT_START


@cache
def never_ends(code: str) -> regex.Pattern[str]:
    """Matches a piece of text that cannot be the whole of a sentence: its last full stop belongs to a word."""
    patterns = [r"(?<![\p{L}\p{N}.'’-])[\p{Lu}\p{Lo}]\.\s*$"]
    if code == "en":
        patterns.append(r"\bU\.[SKN]\.\s*$")
    if code in ABBREVIATIONS:
        words = "|".join(map(regex.escape, sorted(ABBREVIATIONS[code])))
        patterns.append(rf"(?<![\p{{L}}\p{{N}}])(?:{words})\.\s*$")
    if code in ORDINAL_STOP:
        patterns.append(r"(?<![\p{L}\p{N}.,])\d{1,2}\.\s*$")
    return regex.compile("|".join(patterns))


def goes_on(before: str, after: str, code: str) -> bool:
    """Whether two pieces that were cut apart are one sentence."""
    if not before[-1:].isspace() and not _NO_SPACE_NEEDED.search(before):
        return True  # `?` inside an address
    if _SPEECH.get(code, _SPEECH_IN_QUOTES).search(before) and _GOES_ON.get(code, _GOES_ON_SMALL).match(after):
        return True
    return never_ends(code).search(before) is not None


@cache
def plain_end() -> regex.Pattern[str]:
    """A run of terminal marks with what closes after it, before a space."""
    return regex.compile(r"[.!?…。！？؟।]+[\"'”’»)\]]*(?:\s+|$)|[。！？]+[”’」』）]*")
