"""Aggregation: a word's static vector is the mean of its own contextual vectors."""

from collections.abc import Mapping

import torch

from x2s.contextual.occurrences import Occurrences
from x2s.corpus.vocabulary import Vocabulary
from x2s.errors import InputError
from x2s.static.sums import WordSums, check_batch, check_mergeable, seen_vectors
from x2s.vectors import WordVectors


class Aggregated:
    """Mean over all occurrences of a word's own contextual vector (its subwords' mean) at one layer.

        v_w = 1/|O_w| * sum over o in O_w of own(o)

    Bommasani, Davis and Cardie, "Interpreting Pretrained Contextualized Representations via Reductions to Static
    Embeddings", ACL 2020 (their mean pooling over subwords and over contexts).

    Args:
        vocabulary: The words that get vectors.
        dimension: d of the teacher.
        language: Code recorded in the vectors.
        layer: One of the batches' `own_by_layer`; None for the main layer.
    """

    def __init__(self, vocabulary: Vocabulary, dimension: int, language: str, layer: int | None = None) -> None:
        self.vocabulary = vocabulary
        self.dimension = dimension
        self.language = language
        self.layer = layer
        self._own = WordSums(len(vocabulary), dimension)

    def update(self, batch: Occurrences) -> None:
        """Add a batch; streaming any cut of a corpus equals one batch.

        Raises:
            InputError: The batch lacks the layer, or is of another dimension or vocabulary.
        """
        own = batch.own if self.layer is None else batch.own_by_layer.get(self.layer)
        if own is None:
            raise InputError(
                f"occurrences: expected own vectors of layer {self.layer}, got layers {sorted(batch.own_by_layer)}. "
                f"Encode with own_layers=({self.layer},)."
            )
        check_batch(batch, own, self.vocabulary, self.dimension)
        self._own.add(batch.word_ids, own)

    def merge(self, other: "Aggregated") -> None:
        """Add what another shard of the corpus gave.

        Raises:
            InputError: The other has another vocabulary, dimension or layer.
        """
        check_mergeable(self.vocabulary, other.vocabulary, self.dimension, other.dimension)
        if self.layer != other.layer:
            raise InputError(f"merge: expected layer {self.layer}, got {other.layer}. Use one layer for all shards.")
        self._own.merge(other._own)

    def vectors(self) -> WordVectors:
        """Vectors of the words seen so far, most frequent first.

        Raises:
            InputError: No word was seen, or the teacher's vectors are not finite.
        """
        return seen_vectors(self.vocabulary, self._own.seen, self._own.means(), self.language)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All that `update` changes, as tensors."""
        return self._own.state_dict()

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Go on from a saved state.

        Raises:
            InputError: It belongs to another vocabulary or dimension.
        """
        self._own.load_state_dict(state)
