"""The gradient of negative sampling in closed form, and sparse Adam on the rows that it touches."""

from collections.abc import Mapping

import torch
import torch.nn.functional as F

from x2s.static.sums import restore

_SCORE_LIMIT = 20.0
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


def logistic_gradient(
    table: torch.Tensor, targets: torch.Tensor, negatives: torch.Tensor, contexts: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, float]:
    """Gradient of X2Static's loss in the rows of `table`, without autograd.

        dL/ds(t, w) = (s(score) - [w is the target]) / n, and 0 where the score is beyond the clamp

    so a row's gradient is a weighted sum of contexts, which one bag sum per row forms without ever holding a vector
    per (target, word) pair.

    Args:
        table: [V, d].
        targets: [n] int64.
        negatives: [n, K] int64.
        contexts: [n, d].

    Returns:
        The rows touched [m] in rising order, their gradients [m, d], and the loss.
    """
    words = torch.cat([targets.unsqueeze(1), negatives], dim=1)
    scores = torch.bmm(table[words], contexts.unsqueeze(2)).squeeze(2)
    clamped = scores.clamp(-_SCORE_LIMIT, _SCORE_LIMIT)
    loss = F.softplus(-clamped[:, 0]).mean() + F.softplus(clamped[:, 1:]).mean(dim=0).sum()
    slopes = torch.sigmoid(clamped)
    slopes[:, 0] -= 1
    slopes = torch.where(scores.abs() <= _SCORE_LIMIT, slopes, 0.0) / len(targets)

    flat = words.flatten()
    order = flat.argsort(stable=True)
    rows, sizes = flat[order].unique_consecutive(return_counts=True)
    gradient = F.embedding_bag(
        order // words.shape[1],
        contexts,
        sizes.cumsum(0) - sizes,
        mode="sum",
        per_sample_weights=slopes.flatten()[order],
    )
    return rows, gradient, float(loss)


class SparseAdam:
    """Adam whose moments decay only where a row has a gradient, as `torch.optim.SparseAdam`, on one table.

    Kingma and Ba, ICLR 2015; betas 0.9 and 0.999, epsilon 1e-8. Written out because the optimiser of PyTorch sorts
    and copies the sparse gradient several times over, which would cost more than the rest of the step.
    """

    def __init__(self, table: torch.Tensor, learning_rate: float) -> None:
        self.table = table
        self.learning_rate = learning_rate
        self.losses: list[float] = []
        self._moment1 = torch.zeros_like(table)
        self._moment2 = torch.zeros_like(table)
        self._steps = torch.zeros((), dtype=torch.int64)

    def step(self, rows: torch.Tensor, gradient: torch.Tensor, loss: float) -> None:
        """Move the rows [m], each given once, against their gradients [m, d]; note the loss."""
        self._steps += 1
        self.losses.append(loss)
        t = int(self._steps)
        moment1 = self._moment1[rows].lerp_(gradient, 1 - _BETA1)
        moment2 = self._moment2[rows].mul_(_BETA2).addcmul_(gradient, gradient, value=1 - _BETA2)
        self._moment1[rows] = moment1
        self._moment2[rows] = moment2
        size = self.learning_rate * (1 - _BETA2**t) ** 0.5 / (1 - _BETA1**t)
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
        """Restore what `state_dict` gave."""
        restore(self.table, state, "table")
        restore(self._moment1, state, "moment1")
        restore(self._moment2, state, "moment2")
        restore(self._steps, state, "steps")
        self.losses = state["losses"].tolist() if "losses" in state else []
