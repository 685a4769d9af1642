"""Subword vectors to word vectors and context vectors, as one batched matrix product in float32.

A product with a small averaging matrix per sentence costs under a thousandth of a transformer block, accumulates in
float32 whatever the encoder's dtype, and is deterministic on GPU, where scattered additions are not.
"""

import torch

from x2s.contextual.batching import PaddedBatch


def averaging_matrices(batch: PaddedBatch, context: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Row-stochastic matrices that average own and context subwords.

    Args:
        batch: B sentences of L subwords with at most N targets each.
        context: "others" leaves the target's own subwords out of its context, "all" averages the same for every target.

    Returns:
        Two [B, N, L] float32 tensors; rows of absent targets are zero or meaningless.
    """
    sentences, length = batch.slot.shape
    own = torch.zeros(sentences, batch.is_target.shape[1], length, device=batch.slot.device)
    sentence, column = torch.nonzero(batch.averaged & (batch.slot >= 0), as_tuple=True)
    own[sentence, batch.slot[sentence, column], column] = 1.0
    around = batch.averaged.to(own.dtype).unsqueeze(1).expand_as(own)
    if context == "others":
        around = around - own
    return _rows_to_one(own), _rows_to_one(around)


def _rows_to_one(matrix: torch.Tensor) -> torch.Tensor:
    return matrix / matrix.sum(dim=2, keepdim=True).clamp(min=1)


def pool(hidden: torch.Tensor, averaging: torch.Tensor, is_target: torch.Tensor) -> torch.Tensor:
    """Averages of the targets.

    Args:
        hidden: [B, L, d] in any float dtype.
        averaging: [B, N, L] float32.
        is_target: [B, N] bool with n targets set.

    Returns:
        [n, d] float32.
    """
    return torch.bmm(averaging, hidden.float())[is_target]
