"""Whitened context: the closed form of "a word is where it occurs"."""

from collections.abc import Mapping

import torch

from x2s.contextual.occurrences import Occurrences
from x2s.corpus.vocabulary import Vocabulary
from x2s.errors import InputError
from x2s.static.sums import WordSums, check_batch, check_mergeable, restore, seen_vectors
from x2s.vectors import WordVectors


class WhitenedContext:
    """Mean context of a word, centred and whitened by the covariance of all contexts.

        v_w = (C + r * tr(C)/d * I)^(-1/2) (m_w - m)

    m_w is the mean over the word's occurrences of its context vector (the rest of the sentence, the word itself left
    out), m and C are mean and covariance of the contexts of all occurrences, r is the ridge. It needs only sums: one
    pass, no random numbers, exactly mergeable.

    Ours. It answers the question that X2Static (Gupta and Jaggi, ACL 2021) puts to stochastic gradient descent, which
    words fit this context, as linear discriminant analysis would: (m_w - m)^T C^-1 (c - m), linear in the context c,
    is the dot product of v_w and the context whitened in the same way.

    Args:
        vocabulary: The words that get vectors.
        dimension: d of the teacher.
        language: Code recorded in the vectors.
        ridge: Added to the covariance's diagonal, relative to the mean variance.

    Raises:
        InputError: The ridge is negative.
    """

    def __init__(self, vocabulary: Vocabulary, dimension: int, language: str, ridge: float = 0.03) -> None:
        if not ridge >= 0:
            raise InputError(f"ridge: expected 0 or more (relative to the mean variance, e.g. 0.03), got {ridge}")
        self.vocabulary = vocabulary
        self.dimension = dimension
        self.language = language
        self.ridge = ridge
        self._contexts = WordSums(len(vocabulary), dimension)
        # Second moments are taken about a point near the mean, the first batch's: teachers are anisotropic, and with
        # a mean far larger than the spread, moments about zero would cancel in float32.
        self._pivot = torch.full((dimension,), torch.nan, dtype=torch.float32)
        self._moments = torch.zeros(dimension, dimension, dtype=torch.float64)

    def update(self, batch: Occurrences) -> None:
        """Add a batch; streaming any cut of a corpus equals one batch.

        Raises:
            InputError: The batch is of another dimension or vocabulary.
        """
        check_batch(batch, batch.context, self.vocabulary, self.dimension)
        if not len(batch):
            return
        if self._empty:
            self._pivot.copy_(batch.context.mean(dim=0))
        self._contexts.add(batch.word_ids, batch.context)
        about_pivot = batch.context - self._pivot
        self._moments += about_pivot.T @ about_pivot

    def merge(self, other: "WhitenedContext") -> None:
        """Add what another shard of the corpus gave.

        Raises:
            InputError: The other has another vocabulary or dimension.
        """
        check_mergeable(self.vocabulary, other.vocabulary, self.dimension, other.dimension)
        if other._empty:
            return
        if self._empty:
            self._pivot.copy_(other._pivot)
        self._moments += other._moments_about(self._pivot)
        self._contexts.merge(other._contexts)

    def vectors(self) -> WordVectors:
        """Vectors of the words seen so far, most frequent first.

        Raises:
            InputError: No word was seen, or the teacher's vectors are not finite.
        """
        seen = self._contexts.seen
        if self._empty or not bool(torch.isfinite(self._contexts.sums).all()):
            # Let the common check name the words; an eigendecomposition would only fail without saying why.
            return seen_vectors(self.vocabulary, seen, self._contexts.means(), self.language)
        mean, covariance = self.statistics()
        centred = self._contexts.means() - mean
        return seen_vectors(self.vocabulary, seen, centred @ inverse_square_root(covariance, self.ridge), self.language)

    def statistics(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean [d] and covariance [d, d] (float64, divided by n) of the contexts over all occurrences so far."""
        n = int(self._contexts.counts.sum())
        mean = self._contexts.sums.sum(dim=0) / n
        offset = mean - self._pivot.double()
        return mean, self._moments / n - torch.outer(offset, offset)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All that `update` changes, as tensors."""
        return self._contexts.state_dict() | {"pivot": self._pivot.clone(), "moments": self._moments.clone()}

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Go on from a saved state.

        Raises:
            InputError: It belongs to another vocabulary or dimension.
        """
        self._contexts.load_state_dict(state)
        restore(self._pivot, state, "pivot")
        restore(self._moments, state, "moments")

    @property
    def _empty(self) -> bool:
        return bool(self._pivot.isnan().all())

    def _moments_about(self, pivot: torch.Tensor) -> torch.Tensor:
        """Sum of (x - pivot)(x - pivot)^T, from the one about our own pivot."""
        n = int(self._contexts.counts.sum())
        shift = self._pivot.double() - pivot.double()
        about_ours = self._contexts.sums.sum(dim=0) - n * self._pivot.double()
        cross = torch.outer(about_ours, shift)
        return self._moments + cross + cross.T + n * torch.outer(shift, shift)


def inverse_square_root(covariance: torch.Tensor, ridge: float) -> torch.Tensor:
    """(C + ridge * mean variance * I)^(-1/2) of a symmetric positive semi-definite [d, d] matrix, in float64.

    Directions without variance are mapped to zero when the ridge is zero too.
    """
    variances, directions = torch.linalg.eigh(covariance.double())
    mean_variance = variances.clamp(min=0).mean()
    regularised = variances.clamp(min=0) + ridge * mean_variance
    # Eigenvalues of this relative size are rounding, not variance.
    usable = regularised > mean_variance * 1e-12
    scales = torch.where(usable, regularised, torch.inf).rsqrt()
    root: torch.Tensor = (directions * scales) @ directions.T
    return root
