"""What is done to a text before it is cut, and which sentences are kept."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from x2s.errors import InputError

# Control characters that are no white space, invisible marks that would make two words of one (soft hyphen, word
# joiner, directional marks, byte order mark, zero-width space), and halves of surrogate pairs, which no file can hold.
# The zero-width (non-)joiners U+200C and U+200D stay: Persian and the Indic scripts spell words with them.
_UNWANTED = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_SENTENCE_BOUNDARY = "\u2029"

Cut = Callable[[str], list[str]]


def normalise(text: str) -> str:
    """NFC, without control characters and invisible marks, each run of white space as one space."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join(_UNWANTED.sub("", text).split())


@dataclass(frozen=True, slots=True)
class Filters:
    """Which sentences of a paragraph are kept.

    Raises:
        InputError: A limit below 1, or a maximum below the minimum.
    """

    min_tokens: int = 7
    """Fewer tokens, punctuation included, make no context to learn from (the paper's limit)."""
    max_tokens: int = 512
    """More tokens than a teacher can read at once: nearly always a list or table that the segmenter did not cut."""
    min_sentences_per_paragraph: int = 2
    """A paragraph of fewer sentences is likely a heading, caption or menu entry (the paper's limit). Sentences are
    counted as the segmenter finds them, before any other filter."""

    def __post_init__(self) -> None:
        for name in ("min_tokens", "max_tokens", "min_sentences_per_paragraph"):
            if getattr(self, name) < 1:
                raise InputError(f"{name}: expected at least 1, got {getattr(self, name)}.")
        if self.max_tokens < self.min_tokens:
            raise InputError(f"max_tokens: expected at least min_tokens={self.min_tokens}, got {self.max_tokens}.")

    def sentences(self, paragraph: str, split: Cut, tokenize: Cut, counts: Counter[str]) -> list[tuple[str, list[str]]]:
        """The kept sentences of one paragraph with their tokens, in order; adds to `counts`.

        Counted are `sentences_read`, `tokens_read` (of sentences that were tokenised), and under each reason how many
        sentences were dropped for it: `short_paragraph`, `no_letter`, `too_short`, `too_long`.
        """
        found = _split(paragraph, split)
        counts["sentences_read"] += len(found)
        if len(found) < self.min_sentences_per_paragraph:
            counts["short_paragraph"] += len(found)
            return []
        kept = []
        for text in found:
            if not has_letter(text):
                counts["no_letter"] += 1
                continue
            tokens = tokenize(text)
            counts["tokens_read"] += len(tokens)
            if len(tokens) < self.min_tokens:
                counts["too_short"] += 1
            elif len(tokens) > self.max_tokens:
                counts["too_long"] += 1
            else:
                kept.append((text, tokens))
        return kept


def has_letter(text: str) -> bool:
    """Whether any character is a letter of some script."""
    return any(map(str.isalpha, text))


def _split(paragraph: str, split: Cut) -> list[str]:
    """Normalised sentences of a paragraph, whose U+2029 are boundaries already."""
    if _SENTENCE_BOUNDARY not in paragraph:
        text = normalise(paragraph)
        return split(text) if text else []
    parts = map(normalise, paragraph.split(_SENTENCE_BOUNDARY))
    return [sentence for part in parts if part for sentence in split(part)]
