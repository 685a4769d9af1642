"""What ICU's boundaries get wrong for word vectors, as patterns: spans to keep whole, and extra cuts.

ICU's word boundaries (UAX 29) take `https://x2s.org` for seven pieces and `don't` for one. The patterns follow the
conventions of Universal Dependencies, against which docs/segmentation.md measures them.
"""

from functools import cache

import regex

from x2s.corpus.abbreviations import ABBREVIATIONS, ORDINAL_STOP

# Scripts without spaces end an address as a space does.
_IN_ADDRESS = r"[^\s<>\"'|»“”，。、；：！？（）《》「」【】\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]"
_AT_ITS_END = rf"(?![.,;:!?…)\]}}]){_IN_ADDRESS}"
_SCHEME = rf"(?<![A-Za-z0-9])(?:https?|ftps?|file)://{_IN_ADDRESS}*{_AT_ITS_END}"
_DOMAIN = r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
_WWW = rf"(?<![A-Za-z0-9])www\.{_DOMAIN}(?:/{_IN_ADDRESS}*{_AT_ITS_END})?"
_EMAIL = rf"(?<![A-Za-z0-9])[A-Za-z0-9][A-Za-z0-9._%+-]*@{_DOMAIN}"

_EVERYWHERE = (
    # Emphasis and ellipsis: a run of one mark, or of marks that end sentences, is one token.
    r"([\-–—*=_~#+/•…])\1+|[.!?؟]{2,}|''|``|<<|>>|[-=]+>|<[-=]+",
    # Emoticons.
    r"(?<![\p{L}\p{N}:;])(?:[:;=]['’]?-?[)(\]\[DPpOo3/\\|*]|\([:;]|<3|\^_\^)(?![\p{L}\p{N}])",
    # Times, fractions and references: 10:30, 9/11, 91/628.
    r"(?<![\p{L}\p{N}])\d+(?:[:/]\d+)+",
    # Letters that each have their full stop: U.S., z.B., p.m.
    r"(?<![\p{L}\p{N}.])(?:\p{L}\.){2,}(?!\p{L})",
    # Names of firms: AT&T.
    r"\b\p{Lu}+&\p{Lu}+\b",
)
# A compound with hyphens is one word in most treebanks.
_W = r"[\p{L}\p{M}\p{N}]"
_HYPHENATED = rf"{_W}+(?:[-‐‑]{_W}+)+"
_CUTS_HYPHENS = frozenset({"en", "he", "hi", "ja", "ko", "mr", "ta", "te", "th", "zh"})

_ENGLISH_PREFIXES = "anti|co|counter|e|ex|inter|mid|multi|non|post|pre|pro|re|semi|un"
_KEPT = {
    "af": r"(?<!\p{L})['’]n\b",
    "de": r"[\p{L}\p{N}]+['’][\p{L}\p{N}]+",
    "el": r"\b\p{L}{1,5}['’](?=\s)",
    "en": (
        rf"\b(?i:{_ENGLISH_PREFIXES})-\p{{L}}+|(?<![\p{{L}}\p{{N}}-])\d{{3}}-\d{{3,4}}(?:-\d{{4}})?(?![\d-])|"
        r"\b\d{1,2}-\p{L}{3}-\d{2,4}\b"
    ),
    "eu": r"%\s?\d[\d.,]*\p{L}*(?:-\p{L}+)?|\d[\d.]*\.\p{L}+|\d+:\d+\p{L}+",
    "fi": r"\p{L}[\p{L}\p{N}-]+-(?=[\s,;)])|(?<![^\s\"”'’(])-\p{Ll}+|\d+(?:/\d+)*/\p{Lu}+",
    "fr": r"(?i:c['’]est-à-dire|aujourd['’]hui)|\b(?i:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)['’]|\d+/\d+e\b",
    "it": r"\p{L}+['’](?!\p{L})",
    "nl": r"(?<!\p{L})['’](?:s-\p{L}+|[snt]\b)",
    "tl": r"['’](?:yon|di|to|wag)\b",
    "tr": r"[\p{N}.,:]+['’]\p{L}+",
    "zh": r"\d[\d.,]*[%％]|[A-Za-z0-9]+(?:[-.][A-Za-z0-9]+)+",
}

_FRENCH_CLITICS = "il|elle|on|ils|elles|je|tu|nous|vous|ce|y|en|le|la|les|lui|leur|moi|toi|pas"
_EXTRA_CUTS = {
    "en": (
        r"(?<=\p{L})(?=['’](?i:s|m|d|re|ve|ll)\b)|(?<=\p{L})(?=(?i:n['’]t)\b)|(?<=\b(?i:can))(?=(?i:not)\b)|"
        r"(?<=\b(?i:do|did|does|is|was|could|would|should|have))(?=(?i:nt)\b)|"
        r"(?<=\b(?i:gon|wan))(?=(?i:na)\b)|(?<=\b(?i:got))(?=(?i:ta)\b)"
    ),
    "fr": (
        r"(?<=\b(?i:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)['’])(?=\p{L})(?!est-à-dire\b)|"
        rf"(?<=\p{{L}})(?<!\b(?i:rendez|là|ci|au|par|non|peut))(?=-(?i:t-)?(?i:{_FRENCH_CLITICS})\b(?!-))|"
        r"(?<=-t)(?=-(?i:il|elle|on)\b)|(?<=\b\d{1,2})(?=h(?:\d\d)?\b)|(?<=\b\d{1,2}h)(?=\d\d\b)"
    ),
    "it": r"(?<=\p{L}['’])(?=\p{L})",
}
# Treebanks of these join an abbreviation or ordinal with its full stop.
_JOINS_STOPS = frozenset({"af", "de", "en", "es", "et", "eu", "fi", "fr", "hu", "id", "it", "nl", "pt", "tr"})


@cache
def addresses() -> regex.Pattern[str]:
    """URLs and e-mail addresses, which nothing cuts."""
    return regex.compile("|".join((_SCHEME, _WWW, _EMAIL)))


@cache
def kept_whole(code: str) -> regex.Pattern[str]:
    """Spans that the language with this code keeps whole."""
    patterns = list(_EVERYWHERE)
    if code in _KEPT:
        patterns.insert(0, _KEPT[code])
    if code not in _CUTS_HYPHENS:
        patterns.append(_HYPHENATED)
    if code in _JOINS_STOPS:
        # A full stop that ends the text ends the sentence too: it stays apart.
        patterns.append(r"(?<![\p{L}\p{N}.'’-])\p{Lu}\.(?=\s*[\p{L}\p{N}])")
        words = "|".join(map(regex.escape, sorted(ABBREVIATIONS.get(code, ()))))
        if words:
            patterns.append(rf"(?<![\p{{L}}\p{{N}}.-])(?:{words})\.(?=\s*\S)")
    if code in ORDINAL_STOP:
        patterns.append(r"(?<![\p{L}\p{N}.,:])\d+\.(?=\s+[^\s.])")
    return regex.compile("|".join(patterns))


@cache
def extra_cuts(code: str) -> regex.Pattern[str] | None:
    """Empty matches at places to cut that ICU leaves whole, or None."""
    return regex.compile(_EXTRA_CUTS[code]) if code in _EXTRA_CUTS else None
