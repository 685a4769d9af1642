"""Length-sorted batches within a bounded window of the stream."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np
import torch

from x2s.contextual.subwords import SPECIAL, Window

T = TypeVar("T")


@dataclass(frozen=True)
class PaddedBatch:
    """B sentences of a window, padded to L subwords, with at most N targets each.

    Attributes:
        subword_ids: [B, L] int64.
        attention: [B, L] int64, 1 on subwords, 0 on padding.
        averaged: [B, L] bool, subwords that a context may average.
        slot: [B, L] int64, which of its sentence's targets a subword belongs to, -1 for none.
        is_target: [B, N] bool.
        position: [targets] int64, place of each target in the window, in the order of `is_target`.
    """

    subword_ids: torch.Tensor
    attention: torch.Tensor
    averaged: torch.Tensor
    slot: torch.Tensor
    is_target: torch.Tensor
    position: torch.Tensor

    def __len__(self) -> int:
        return len(self.subword_ids)


def windows(sentences: Iterable[T], size: int) -> Iterator[list[T]]:
    """Consecutive lists of `size` sentences; the last may be shorter."""
    stream = iter(sentences)
    while window := list(islice(stream, size)):
        yield window


def token_budget(lengths: np.ndarray, order: np.ndarray, tokens_per_batch: int) -> list[np.ndarray]:
    """Cut `order` (longest first) into batches of at most `tokens_per_batch` padded subwords, one sentence at least."""
    batches = []
    start = 0
    while start < len(order):
        size = max(1, tokens_per_batch // int(lengths[order[start]]))
        batches.append(order[start : start + size])
        start += size
    return batches


def padded_batches(window: Window, tokens_per_batch: int, pad_id: int, context: str) -> Iterator[PaddedBatch]:
    """Batches of the window's sentences that have targets, longest sentences first (so memory peaks at once)."""
    lengths = window.lengths
    has_targets = np.flatnonzero(np.diff(window.target_starts))
    order = has_targets[np.argsort(-lengths[has_targets], kind="stable")]
    slots = _slots(window)
    averaged = window.word >= (SPECIAL if context == "all" else 0)
    for chosen in token_budget(lengths, order, tokens_per_batch):
        yield _padded(window, chosen, slots, averaged, pad_id)


def _slots(window: Window) -> np.ndarray:
    """[P] position of each subword's word among its sentence's targets, -1 where it belongs to no target."""
    # Two rows more, so that SPECIAL and VOID, read from the end, find -1 too.
    words = int(max(window.word.max(initial=0), window.targets.max(initial=0))) + 3
    of_word = np.full(words, -1, np.int64)
    of_word[window.targets] = np.arange(len(window.targets)) - np.repeat(
        window.target_starts[:-1], np.diff(window.target_starts)
    )
    slots: np.ndarray = of_word[window.word]
    return slots


def _padded(window: Window, chosen: np.ndarray, slots: np.ndarray, averaged: np.ndarray, pad_id: int) -> PaddedBatch:
    starts, lengths = window.starts[chosen], window.lengths[chosen]
    column = np.arange(lengths.max())
    inside = column < lengths[:, None]
    index = np.where(inside, starts[:, None] + column, 0)
    first, count = window.target_starts[chosen], np.diff(window.target_starts)[chosen]
    target = np.arange(count.max())
    is_target = target < count[:, None]
    return PaddedBatch(
        subword_ids=torch.from_numpy(np.where(inside, window.subword_ids[index], pad_id)),
        attention=torch.from_numpy(inside.astype(np.int64)),
        averaged=torch.from_numpy(averaged[index] & inside),
        slot=torch.from_numpy(np.where(inside, slots[index], -1)),
        is_target=torch.from_numpy(is_target),
        position=torch.from_numpy((first[:, None] + target)[is_target]),
    )


def chunks(window: Window, sentences: int) -> Iterator[tuple[int, int, np.ndarray]]:
    """Target ranges of each run of `sentences` sentences: (first target, end, sentence number of each)."""
    of_target = np.repeat(np.arange(len(window)), np.diff(window.target_starts))
    for first in range(0, len(window), sentences):
        begin, end = window.target_starts[first], window.target_starts[min(first + sentences, len(window))]
        if end > begin:
            yield int(begin), int(end), of_target[begin:end]
