"""Words to subwords: which subword vectors belong to which word of a sentence.

The teacher reads a sentence as its tokens joined by one space. A subword belongs to the word whose characters it
covers, found through the fast tokenizer's character offsets:

- offsets that include the space before a word ("▁" of SentencePiece models, "Ġ" of byte-level ones) change nothing,
  because a space is no word's character;
- a subword that covers characters of several words goes to the one of which it covers most, the first of equals, so
  that every subword vector is counted once;
- *void* subwords belong to no word and are averaged nowhere: unknown ones, lone boundary marks (SentencePiece cuts
  "▁" off before scripts without spaces) and mask or padding tokens that the text happens to spell out;
- the word in which truncation cuts stays context for the others with what is left of it, but is no target.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy as np

from x2s.errors import InputError

SPECIAL, VOID = -1, -2
"""In `Window.word`: a token added by the tokenizer, and a subword that is averaged nowhere."""


class WordIndex(Protocol):
    """What is asked of a vocabulary: the row of each token, -1 where it has none."""

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Row of each token."""


@dataclass(frozen=True)
class Window:
    """The subwords and targets of S sentences; words and subwords are numbered through the whole window.

    Attributes:
        subword_ids: [P] int64, all sentences one after the other, special tokens included, cut at the maximum.
        starts: [S + 1] int64, sentence s has the subwords `starts[s]:starts[s + 1]`.
        word: [P] int64, number of the word in the window, or `SPECIAL` or `VOID`.
        targets: [T] int64, numbers of the words that become occurrences, in text order.
        target_starts: [S + 1] int64, sentence s has the targets `target_starts[s]:target_starts[s + 1]`.
        rows: [T] int64, vocabulary row of each target.
    """

    subword_ids: np.ndarray
    starts: np.ndarray
    word: np.ndarray
    targets: np.ndarray
    target_starts: np.ndarray
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> np.ndarray:
        """[S] subwords per sentence."""
        return np.diff(self.starts)


class SubwordTokenizer:
    """Turns sentences given as token lists into a `Window`.

    Args:
        tokenizer: A fast transformers tokenizer; its Rust backend is used directly, on all cores.
        max_subwords: Longer sentences are cut to this many subwords, special tokens included.
        positions: How many the model can read.

    Raises:
        InputError: `max_subwords` leaves no room for a word, or exceeds what the model can read.
    """

    def __init__(self, tokenizer: Any, max_subwords: int, positions: int) -> None:
        self._backend = tokenizer.backend_tokenizer
        specials = self._backend.num_special_tokens_to_add(False)
        if not specials < max_subwords <= positions:
            raise InputError(f"max_subwords: expected {specials + 1} to {positions} for this model, got {max_subwords}")
        self._backend.no_padding()
        self._backend.enable_truncation(max_subwords)
        self._max_subwords = max_subwords
        self._kind = _kinds(tokenizer)

    def window(self, sentences: Sequence[Sequence[str]], vocabulary: WordIndex) -> Window:
        """Tokenise sentences and find their targets."""
        tokens = list(chain.from_iterable(sentences))
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        word_starts, word_ends = _spans(tokens)
        first_word = np.concatenate(([0], np.cumsum(lengths)))
        encodings = self._backend.encode_batch([" ".join(sentence) for sentence in sentences])

        ids, starts, begins, ends = _flatten(encodings)
        # One coordinate for the whole window: sentences follow each other with one character between them.
        base = np.append(word_starts, 0)[np.minimum(first_word[:-1], len(word_starts))]
        shift = np.repeat(base, np.diff(starts))
        word = _cover(begins + shift, ends + shift, word_starts, word_ends)
        kind = self._kind[ids]
        word[kind == SPECIAL] = SPECIAL
        word[kind == VOID] = VOID

        rows = np.fromiter(vocabulary.encode(tokens), np.int64, len(tokens))
        for sentence, position in self._cuts(encodings):
            cut = np.searchsorted(word_ends, base[sentence] + position, side="right")
            if cut < len(rows):
                rows[cut] = -1
        targets = _targets(word, rows, lengths)
        return Window(ids, starts, word, targets, np.searchsorted(targets, first_word), rows[targets])

    def _cuts(self, encodings: Sequence[Any]) -> list[tuple[int, int]]:
        """Sentence number and character of the first subword that truncation removed, where it did."""
        cuts = []
        for number, encoding in enumerate(encodings):
            if len(encoding) == self._max_subwords and encoding.overflowing:
                rest = encoding.overflowing[0]
                position = next(
                    (offset[0] for id, offset in zip(rest.ids, rest.offsets, strict=True) if self._kind[id] != SPECIAL),
                    None,
                )
                if position is not None:
                    cuts.append((number, position))
        return cuts


def _kinds(tokenizer: Any) -> np.ndarray:
    """[vocabulary] int64: 0 for subwords, `SPECIAL` for the tokens around a sentence, `VOID`."""
    vocabulary = tokenizer.backend_tokenizer.get_vocab(with_added_tokens=True)
    kinds = np.zeros(max(vocabulary.values()) + 1, np.int64)
    kinds[[id for piece, id in vocabulary.items() if not piece.strip("▁Ġ \u00a0\u3000")]] = VOID
    kinds[list(tokenizer.all_special_ids)] = VOID
    around = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id)
    kinds[[id for id in around if id is not None]] = SPECIAL
    return kinds


def _spans(tokens: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """First character and end of each token when all are joined by one character."""
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    ends = np.cumsum(lengths + 1) - 1
    return ends - lengths, ends


def _flatten(encodings: Sequence[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Subword ids, sentence starts, and each subword's first and end character in its sentence."""
    lengths = np.fromiter(map(len, encodings), np.int64, len(encodings))
    starts = np.concatenate(([0], np.cumsum(lengths)))
    total = int(starts[-1])
    ids = np.fromiter(chain.from_iterable(encoding.ids for encoding in encodings), np.int64, total)
    pairs = chain.from_iterable(encoding.offsets for encoding in encodings)
    offsets = np.fromiter(chain.from_iterable(pairs), np.int64, 2 * total).reshape(total, 2)
    return ids, starts, offsets[:, 0], offsets[:, 1]


def _cover(begins: np.ndarray, ends: np.ndarray, word_starts: np.ndarray, word_ends: np.ndarray) -> np.ndarray:
    """[P] the word whose characters each subword covers; `VOID` where it covers none."""
    first = np.searchsorted(word_ends, begins, side="right")
    last = np.searchsorted(word_starts, np.maximum(ends, begins + 1), side="left") - 1
    word = np.where(first <= last, first, VOID)
    for subword in np.flatnonzero(first < last):
        shared = range(first[subword], last[subword] + 1)
        begin, end = begins[subword], ends[subword]
        word[subword] = max(shared, key=lambda w: min(end, word_ends[w]) - max(begin, word_starts[w]))
    return word


def _targets(word: np.ndarray, rows: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Numbers of the words with a row, a subword of their own, and another word's subword beside them."""
    own = np.bincount(word[word >= 0], minlength=len(rows))
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    of_sentence = np.bincount(sentence, weights=own, minlength=len(lengths))
    others = of_sentence[sentence] - own
    return np.flatnonzero((rows >= 0) & (own > 0) & (others > 0))
