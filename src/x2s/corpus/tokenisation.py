"""From a sentence to its words: ICU with merge rules, MeCab, jieba, a plain pattern, or UDPipe.

Every tokenizer is a small frozen object that can be pickled into worker processes; what it needs is loaded there at
the first call. Its tokens cover the text: joined, they hold all characters but spaces and invisible ones (controls,
zero-width marks between words). They are never empty and hold no tabs or line breaks.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import regex

from x2s.corpus.merge_rules import addresses, extra_cuts, kept_whole
from x2s.corpus.udpipe import UDPipeWords
from x2s.errors import InputError
from x2s.languages import Language

# Controls and lone surrogates separate words as spaces do; ICU and MeCab stumble over them.
_SEPARATORS = regex.compile(r"[\s\x00-\x1f\x7f\p{Cs}]+")
_INVISIBLE = regex.compile(r"[\s\p{Cf}]*")
_WORDS_AND_MARKS = regex.compile(r"\d+(?:[.,:]\d+)+|[\p{L}\p{M}\p{N}\p{Cf}]+|([^\s\p{L}\p{M}\p{N}])\1*")


def word_tokenizer(language: Language, tool: str | None = None) -> Callable[[str], list[str]]:
    """The tokenizer of a language: its default, or the tool asked for.

    Args:
        language: Decides the default tool and the merge rules.
        tool: `icu`, `fugashi` (Japanese), `jieba` (Chinese), `regex` (spaces and punctuation) or `udpipe:MODEL`
            with the path of a UDPipe 1 model.

    Raises:
        InputError: Unknown tool, or no such UDPipe model.
        MissingExtraError: `udpipe` without `x2s[udpipe]`.
    """
    name = tool or language.tokenizer
    if name == "icu":
        return IcuWords(language.code)
    if name == "fugashi":
        return FugashiWords()
    if name == "jieba":
        return JiebaWords()
    if name == "regex":
        return RegexWords(language.code)
    if name.startswith("udpipe:"):
        return UDPipeWords(Path(name.removeprefix("udpipe:")))
    raise InputError(
        f"unknown tokenizer {name!r} for {language.code}: expected icu, fugashi, jieba, regex or udpipe:MODEL"
    )


@dataclass(frozen=True, slots=True)
class IcuWords:
    """ICU word boundaries (dictionary-based for Chinese, Japanese, Thai, Burmese ...) and our merge rules."""

    code: str

    def __call__(self, text: str) -> list[str]:
        """Tokens of a sentence."""
        from icu4py.breakers import WordBreaker

        text = _separated(text)
        cuts, position = {0}, 0
        for segment in WordBreaker(text, self.code):
            position += len(segment)
            cuts.add(position)
        return _visible(_pieces(text, _corrected(text, cuts, self.code)))


@dataclass(frozen=True, slots=True)
class RegexWords:
    """Runs of letters and digits, runs of one punctuation mark; the addresses and clitics of the merge rules."""

    code: str

    def __call__(self, text: str) -> list[str]:
        """Tokens of a sentence."""
        text = _separated(text)
        cuts = {0, len(text)}
        for match in _WORDS_AND_MARKS.finditer(text):
            cuts.update(match.span())
        return _visible(_pieces(text, _corrected(text, cuts, self.code)))


@dataclass(frozen=True, slots=True)
class FugashiWords:
    """MeCab with the UniDic dictionary that comes in `unidic-lite` (short units), addresses kept whole."""

    def __call__(self, text: str) -> list[str]:
        """Tokens of a sentence."""
        text = _separated(text)
        cuts, position = {0, len(text)}, 0
        for word in _mecab()(text):
            start = text.index(word.surface, position)
            position = start + len(word.surface)
            cuts.update((start, position))
        return _visible(_pieces(text, _corrected(text, cuts, "ja")))


@dataclass(frozen=True, slots=True)
class JiebaWords:
    """jieba in its default (accurate) mode with the hidden Markov model, addresses kept whole."""

    def __call__(self, text: str) -> list[str]:
        """Tokens of a sentence."""
        text = _separated(text)
        cuts, position = {0}, 0
        for word in _jieba().cut(text):
            position += len(word)
            cuts.add(position)
        return _visible(_pieces(text, _corrected(text, cuts, "zh")))


@cache
def _mecab() -> Any:
    import fugashi
    import unidic_lite  # type: ignore[import-untyped]

    return fugashi.Tagger(f"-d {unidic_lite.DICDIR}")


@cache
def _jieba() -> Any:
    import jieba

    jieba.setLogLevel(logging.WARNING)  # it announces on stderr that it builds its dictionary
    jieba.initialize()
    return jieba


def _separated(text: str) -> str:
    return _SEPARATORS.sub(" ", text)


def _corrected(text: str, cuts: set[int], code: str) -> list[int]:
    """Apply the merge rules: spans kept whole, then extra cuts, and nothing inside an address."""
    _keep(text, cuts, kept_whole(code))
    extra = extra_cuts(code)
    if extra is not None:
        cuts.update(match.start() for match in extra.finditer(text))
    _keep(text, cuts, addresses())
    return sorted(cuts)


def _keep(text: str, cuts: set[int], spans: regex.Pattern[str]) -> None:
    for match in spans.finditer(text):
        start, end = match.span()
        cuts.difference_update(range(start + 1, end))
        cuts.update((start, end))


def _pieces(text: str, cuts: list[int]) -> list[str]:
    return [text[start:end] for start, end in pairwise(cuts)]


def _visible(pieces: list[str]) -> list[str]:
    """Drop spaces and invisible pieces; a piece that still holds a space (a mark upon it) is split there."""
    return [token for piece in pieces for token in piece.split() if not _INVISIBLE.fullmatch(token)]
