"""A first dictionary from nothing: words whose similarities to their own language are distributed alike."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from x2s.align.induction import Induction
from x2s.vectors.normalisation import STEPS, Step, normalise


def unsupervised_start(
    source: Tensor, target: Tensor, *, words: int = 4000, neighbourhood: int = 10, steps: tuple[Step, ...] = STEPS
) -> tuple[Tensor, Tensor]:
    """Pair words by the sorted rows of M = (X X^T)^1/2 of each language (Artetxe et al. 2018b, section 3.2).

    A row of M, sorted, no longer depends on the language's coordinates nor on the order of its words, so rows of the
    two languages can be compared; CSLS both ways, union.

    Args:
        source: [n, d] float32, normalised, most frequent words first.
        target: [m, d'] float32; d' may differ.
        words: How many of the most frequent words take part.
        neighbourhood: k of CSLS.
        steps: Normalisation of the sorted rows.

    Returns:
        Source rows and target rows of the pairs, [p] int64 each.
    """
    size = min(len(source), len(target), words)
    x, z = (torch.from_numpy(normalise(_sorted_roots(side[:size]), steps)) for side in (source, target))
    induced = Induction(size, size, neighbourhood)(x, z)
    rows = torch.arange(size)
    return torch.cat([rows, induced.backward]), torch.cat([induced.forward, rows])


def _sorted_roots(vectors: Tensor) -> NDArray[np.float32]:
    u, s, _ = torch.linalg.svd(vectors.double(), full_matrices=False)
    root = ((u * s) @ u.T).float()
    profiles: NDArray[np.float32] = root.sort(dim=1).values.numpy()
    return profiles
