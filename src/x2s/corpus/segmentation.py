"""From a paragraph to its sentences: ICU with abbreviations joined, or a tool that knows the language better.

Every splitter is a small frozen object that can be pickled into worker processes. Its sentences, in order, hold all
visible characters of the paragraph; spaces and line breaks inside one become single spaces.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import regex

from x2s.corpus.sentence_rules import END_AFTER_ALL, OPENING_AT_END, closing_at_start, goes_on, never_ends, plain_end
from x2s.corpus.udpipe import UDPipeSentences
from x2s.errors import InputError
from x2s.languages import Language

_SEPARATORS = regex.compile(r"[\s\x00-\x1f\x7f\p{Cs}]+")


def sentence_splitter(language: Language, tool: str | None = None) -> Callable[[str], list[str]]:
    """The sentence splitter of a language: its default, or the tool asked for.

    Args:
        language: Decides the default tool and its abbreviations.
        tool: `icu`, `regex` (terminal punctuation), `kiwi` (Korean), `crfcut` (Thai), `sentencex` or `udpipe:MODEL`
            with the path of a UDPipe 1 model.

    Raises:
        InputError: Unknown tool, or no such UDPipe model.
        MissingExtraError: `udpipe` without `x2s[udpipe]`.
    """
    name = tool or language.segmenter
    if name == "icu":
        return IcuSentences(language.code)
    if name == "regex":
        return RegexSentences(language.code)
    if name == "kiwi":
        return KiwiSentences()
    if name == "crfcut":
        return CrfCutSentences()
    if name == "sentencex":
        return SentencexSentences(language.code)
    if name.startswith("udpipe:"):
        return UDPipeSentences(Path(name.removeprefix("udpipe:")))
    raise InputError(
        f"unknown sentence splitter {name!r} for {language.code}: "
        "expected icu, regex, kiwi, crfcut, sentencex or udpipe:MODEL"
    )


@dataclass(frozen=True, slots=True)
class IcuSentences:
    """ICU sentence boundaries (UAX 29), joined again after abbreviations, initials and ordinals."""

    code: str

    def __call__(self, text: str) -> list[str]:
        """Sentences of a paragraph."""
        from icu4py.breakers import SentenceBreaker

        pieces = SentenceBreaker(_separated(text), self.code)
        return _stripped(_joined((part for piece in pieces for part in END_AFTER_ALL.splititer(piece)), self.code))


@dataclass(frozen=True, slots=True)
class RegexSentences:
    """A cut after every run of terminal punctuation (and closing quotes) before a space, but after abbreviations."""

    code: str

    def __call__(self, text: str) -> list[str]:
        """Sentences of a paragraph."""
        text = _separated(text)
        pieces, start = [], 0
        joins = never_ends(self.code)
        for match in plain_end().finditer(text):
            if not joins.search(text[start : match.end()]):
                pieces.append(text[start : match.end()])
                start = match.end()
        return _stripped([*pieces, text[start:]])


@dataclass(frozen=True, slots=True)
class KiwiSentences:
    """Korean sentences by Kiwi's morphological analysis, which needs no full stop to see an ending."""

    def __call__(self, text: str) -> list[str]:
        """Sentences of a paragraph."""
        text = _separated(text)
        starts = [sentence.start for sentence in _kiwi().split_into_sents(text)]
        cuts = [0, *starts[1:], len(text)]
        return _stripped([text[start:end] for start, end in pairwise(cuts)])


@dataclass(frozen=True, slots=True)
class CrfCutSentences:
    """Thai sentences by PyThaiNLP's conditional random field; Thai has no full stop."""

    def __call__(self, text: str) -> list[str]:
        """Sentences of a paragraph."""
        text = _separated(text)
        return _stripped(_crfcut()(text)) if text.strip() else []


@dataclass(frozen=True, slots=True)
class SentencexSentences:
    """Wikimedia's rules and abbreviation lists for some 250 languages."""

    code: str

    def __call__(self, text: str) -> list[str]:
        """Sentences of a paragraph."""
        import sentencex

        return _stripped(_joined(sentencex.segment(self.code, _separated(text)), self.code))


@cache
def _kiwi() -> Any:
    from kiwipiepy import Kiwi

    return Kiwi(num_workers=1)


@cache
def _crfcut() -> Callable[[str], list[str]]:
    if "PYTHAINLP_READ_MODE" not in os.environ:  # its older name; both at once are an error
        os.environ.setdefault("PYTHAINLP_READ_ONLY", "1")  # else its import makes a folder in the home directory
    from pythainlp.tokenize.crfcut import segment

    cut: Callable[[str], list[str]] = segment
    return cut


def _joined(pieces: Iterable[str], code: str) -> list[str]:
    """Put right what is cut too early: marks on the wrong side of the cut, abbreviations, speech that goes on."""
    sentences: list[str] = []
    for piece in pieces:
        if not sentences:
            sentences.append(piece)
            continue
        opening = OPENING_AT_END.search(sentences[-1])
        if opening is not None:
            sentences[-1], piece = sentences[-1][: opening.start()], opening.group() + piece
        closing = closing_at_start(code).match(piece)
        if closing is not None:
            sentences[-1], piece = sentences[-1] + closing.group(), piece[closing.end() :]
        if piece and goes_on(sentences[-1], piece, code):
            sentences[-1] += piece
        elif piece:
            sentences.append(piece)
    return sentences


def _separated(text: str) -> str:
    return _SEPARATORS.sub(" ", text)


def _stripped(pieces: list[str]) -> list[str]:
    return [piece.strip() for piece in pieces if piece.strip()]
