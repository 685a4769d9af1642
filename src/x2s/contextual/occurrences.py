"""Occurrences: what the teacher hands to the static methods."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch


@dataclass(frozen=True)
class Occurrences:
    """A batch of n word occurrences, all on the CPU.

    Attributes:
        word_ids: [n] int64, row of the word in the vocabulary.
        sentence_ids: [n] int64, position of the sentence in the stream (unique over the whole stream).
        own: [n, d] float32, mean of the word's own subword vectors at the main layer.
        context: [n, d] float32, mean of the sentence's other words' subword vectors at the main layer.
        own_by_layer: further layers asked for, {layer: [n, d] float32}.

    Words outside the vocabulary are context for others but are not in the batch; neither are words cut off by
    truncation, words made of unknown subwords only, and words that have no context (alone in their sentence).
    """

    word_ids: torch.Tensor
    sentence_ids: torch.Tensor
    own: torch.Tensor
    context: torch.Tensor
    own_by_layer: Mapping[int, torch.Tensor] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.word_ids)
