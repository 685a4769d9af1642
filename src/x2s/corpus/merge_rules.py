"""What ICU's boundaries get wrong for word vectors, as two lists of patterns: spans to keep whole and extra cuts.

ICU's word boundaries (UAX 29) take `https://x2s.org` for seven pieces and `don't` for one. The patterns follow the
conventions of Universal Dependencies, against which docs/segmentation.md measures them.
"""

from functools import cache

import regex

_SCHEME = r"(?:https?|ftps?|file)://[^\s<>\"'|»“”]*[^\s<>\"'|»“”.,;:!?…)\]}]"
_WWW = r"\bwww\.[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+(?:/[^\s<>\"'|»“”]*[^\s<>\"'|»“”.,;:!?…)\]}])?"
_EMAIL = r"[\p{L}\p{N}][\p{L}\p{N}._%+-]*@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+"
_ADDRESSES = "|".join((_SCHEME, _WWW, _EMAIL))

# `...`, `--`, `!?!`: one mark of emphasis or ellipsis, one token.
_RUNS = r"([.\-–—*=_~#+/•…])\1+|[!?؟]{2,}|,,|''|``|<<|>>"
_EMOTICONS = r"(?<![\p{L}\p{N}])(?:[:;=8xX]['’]?-?[)(\]\[DPpOo3/\\|*]|<3|\^_\^)(?![\p{L}\p{N}])"

# A compound with hyphens is one word in most treebanks. Not where UD or the script's habits cut it.
_HYPHENATED = r"[\p{L}\p{M}\p{N}]+(?:[-‐‑][\p{L}\p{M}\p{N}]+)+"
_CUTS_HYPHENS = frozenset({"en", "he", "hi", "ja", "ko", "mr", "ta", "te", "th", "zh"})

_ENGLISH_CLITICS = r"(?<=\p{L})(?=['’](?i:s|m|d|re|ve|ll)\b)|(?<=\p{L})(?=(?i:n['’]t)\b)|\b(?i:can)\K(?=(?i:not)\b)"
_ELISION = r"(?<=\b(?i:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)['’])(?=\p{L})"
_ITALIAN_ELISION = r"(?<=\p{L}['’])(?=\p{L})"
_CUTS = {"en": _ENGLISH_CLITICS, "fr": _ELISION, "it": _ITALIAN_ELISION}
_KEEPS: dict[str, str] = {}


@cache
def kept_whole(code: str) -> regex.Pattern[str]:
    """Spans inside which nothing is cut, for the language with this code."""
    patterns = [_ADDRESSES, _EMOTICONS, _RUNS]
    if code in _KEEPS:
        patterns.append(_KEEPS[code])
    if code not in _CUTS_HYPHENS:
        patterns.append(_HYPHENATED)
    return regex.compile("|".join(patterns))


@cache
def extra_cuts(code: str) -> regex.Pattern[str] | None:
    """Empty matches at places to cut that ICU leaves whole, or None."""
    return regex.compile(_CUTS[code]) if code in _CUTS else None
