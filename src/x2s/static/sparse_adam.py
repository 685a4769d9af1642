"""The gradient of negative sampling in closed form, and sparse Adam on the rows that it touches."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from x2s.static.sums import restore

_SCORE_LIMIT = 20.0
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8
# Rows are worked on in pieces that stay in the cache: the steps are bound by memory, not by arithmetic.
_TARGETS_PER_PIECE = 64
_ROWS_PER_PIECE = 512


@dataclass(frozen=True)
class BagGradient:
    """Gradient of some rows of a table, each a weighted sum of a few context vectors.

    Attributes:
        rows: [m] int64, the rows touched, rising.
        begins: [m + 1] int64, where each row's terms begin in `contexts_of` and `weights`.
        contexts_of: [p] int64, which context a term takes.
        weights: [p], what it is multiplied with.
        contexts: [n, d].
    """

    rows: torch.Tensor
    begins: torch.Tensor
    contexts_of: torch.Tensor
    weights: torch.Tensor
    contexts: torch.Tensor

    def pieces(self, size: int = _ROWS_PER_PIECE) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Rows [s] and their gradients [s, d], `size` rows at a time."""
        for first in range(0, len(self.rows), size):
            rows = self.rows[first : first + size]
            begins = self.begins[first : first + len(rows) + 1]
            terms = slice(int(begins[0]), int(begins[-1]))
            yield (
                rows,
                F.embedding_bag(
                    self.contexts_of[terms],
                    self.contexts,
                    begins[:-1] - begins[0],
                    mode="sum",
                    per_sample_weights=self.weights[terms],
                ),
            )


def logistic_gradient(
    table: torch.Tensor, targets: torch.Tensor, negatives: torch.Tensor, contexts: torch.Tensor
) -> tuple[BagGradient, float]:
    """Gradient of X2Static's loss in the rows of `table`, without autograd, and the loss.

        dL/ds(t, w) = (s(score) - [w is the target]) / n, and 0 where the score is beyond the clamp

    so a row's gradient is a weighted sum of contexts, and no vector per (target, word) pair is ever held.

    Args:
        table: [V, d].
        targets: [n] int64.
        negatives: [n, K] int64.
        contexts: [n, d].
    """
    words = torch.cat([targets.unsqueeze(1), negatives], dim=1)
    scores = _scores(table, words, contexts)
    clamped = scores.clamp(-_SCORE_LIMIT, _SCORE_LIMIT)
    loss = F.softplus(-clamped[:, 0]).mean() + F.softplus(clamped[:, 1:]).mean(dim=0).sum()
    slopes = torch.sigmoid(clamped)
    slopes[:, 0] -= 1
    slopes = torch.where(scores.abs() <= _SCORE_LIMIT, slopes, 0.0) / len(targets)

    flat = words.flatten()
    order = flat.argsort(stable=True)
    times = torch.bincount(flat)
    rows = times.nonzero().squeeze(1)
    begins = torch.cat([times.new_zeros(1), times[rows].cumsum(0)])
    return BagGradient(rows, begins, order // words.shape[1], slopes.flatten()[order], contexts), float(loss)


def _scores(table: torch.Tensor, words: torch.Tensor, contexts: torch.Tensor) -> torch.Tensor:
    """Dot products [n, 1 + K] of each target's context with its target and negatives."""
    scores = contexts.new_empty(words.shape)
    for first in range(0, len(words), _TARGETS_PER_PIECE):
        piece = slice(first, first + _TARGETS_PER_PIECE)
        vectors = table.index_select(0, words[piece].flatten()).view(*words[piece].shape, -1)
        scores[piece] = torch.bmm(vectors, contexts[piece].unsqueeze(2)).squeeze(2)
    return scores


class SparseAdam:
    """Adam whose moments decay only where a row has a gradient, as `torch.optim.SparseAdam`, on one table.

    Kingma and Ba, ICLR 2015; betas 0.9 and 0.999, epsilon 1e-8. Written out because PyTorch's optimiser sorts and
    copies the sparse gradient several times over, which would cost more than the rest of the step.
    """

    def __init__(self, table: torch.Tensor, learning_rate: float) -> None:
        self.table = table
        self.learning_rate = learning_rate
        self.losses: list[float] = []
        self._moment1 = torch.zeros_like(table)
        self._moment2 = torch.zeros_like(table)
        self._steps = torch.zeros((), dtype=torch.int64)

    def step(self, gradient: BagGradient, loss: float) -> None:
        """Move the touched rows against their gradients; note the loss."""
        self._steps += 1
        self.losses.append(loss)
        t = int(self._steps)
        size = self.learning_rate * (1 - _BETA2**t) ** 0.5 / (1 - _BETA1**t)
        for rows, slope in gradient.pieces():
            moment1 = self._moment1.index_select(0, rows).lerp_(slope, 1 - _BETA1)
            moment2 = self._moment2.index_select(0, rows).mul_(_BETA2).addcmul_(slope, slope, value=1 - _BETA2)
            self._moment1.index_copy_(0, rows, moment1)
            self._moment2.index_copy_(0, rows, moment2)
            self.table.index_add_(0, rows, moment1.div_(moment2.sqrt_().add_(_EPSILON)), alpha=-size)

    def average(self, other: "SparseAdam", weight: torch.Tensor) -> None:
        """Move each row towards the other's by `weight` [V, 1] in [0, 1], moments included."""
        for mine, theirs in (
            (self.table, other.table),
            (self._moment1, other._moment1),
            (self._moment2, other._moment2),
        ):
            mine.lerp_(theirs, weight.to(mine.dtype))
        self._steps = torch.maximum(self._steps, other._steps)
        self.losses += other.losses

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Table, moments, step count and losses."""
        return {
            "table": self.table.clone(),
            "moment1": self._moment1.clone(),
            "moment2": self._moment2.clone(),
            "steps": self._steps.clone(),
            "losses": torch.tensor(self.losses, dtype=torch.float64),
        }

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Restore what `state_dict` gave.

        Raises:
            InputError: It belongs to another vocabulary, dimension or method.
        """
        restore(self.table, state, "table")
        restore(self._moment1, state, "moment1")
        restore(self._moment2, state, "moment2")
        restore(self._steps, state, "steps")
        self.losses = state["losses"].tolist() if "losses" in state else []
