"""Linear maps from translation pairs: the orthogonal one, and VecMap's advanced one.

Everything here is float64: a whitening has the condition number of the vectors' covariance.
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor

Side = Literal["source", "target"]


def orthogonal_map(cross_covariance: Tensor, anchor: float = 0.0) -> Tensor:
    """The rotation W that minimises |X W - Z| over the pairs (Schoenemann 1966), W^T W = I.

    Args:
        cross_covariance: [d, d], X^T Z over the pairs. It may be rank-deficient; W is orthogonal all the same.
        anchor: Pull towards the identity, for sides that share their coordinates: W minimises
            |X W - Z|^2 + anchor * s * |W - I|^2, s the mean singular value of X^T Z. Directions of which the dictionary
            says little then stay in place instead of turning at random.

    Returns:
        [d, d] float64.
    """
    cross_covariance = cross_covariance.double()
    if anchor:
        # Of the singular values only the mean is wanted: the eigenvalues of M^T M give it in a third of the time.
        squares = torch.linalg.eigvalsh(cross_covariance.T @ cross_covariance)
        pull = anchor * squares.clamp(min=0).sqrt().mean()
        cross_covariance = cross_covariance + pull * torch.eye(len(cross_covariance), dtype=torch.float64)
    u, _, vt = torch.linalg.svd(cross_covariance)
    rotation: Tensor = u @ vt
    return rotation


def whitening(pairs: Tensor, ridge: float) -> tuple[Tensor, Tensor]:
    """A = (X^T X + ridge * trace(X^T X) / d * I)^-1/2, and its inverse.

    Args:
        pairs: [p, d], the vectors of one side of the dictionary; p may be smaller than d.
        ridge: Share of the mean variance added to every direction. It bounds what a direction that the
            dictionary hardly spans is blown up by. Below 1e-14, the precision of float64, it counts as 1e-14.

    Returns:
        A and A^-1, both [d, d] float64, symmetric.
    """
    rows = pairs.double()
    gram = rows.T @ rows
    values, vectors = torch.linalg.eigh(gram)
    mean = values.clamp_min(0).mean()
    floor = (max(ridge, 1e-14) * mean).clamp_min(torch.finfo(torch.float64).tiny)
    roots = (values.clamp_min(0) + floor).sqrt()
    return (vectors / roots) @ vectors.T, (vectors * roots) @ vectors.T


class Maps(NamedTuple):
    """Both sides' maps, each [d, d] float64; `target` is None where the target stays where it is."""

    source: Tensor
    target: Tensor | None


def advanced_maps(
    source: Tensor,
    target: Tensor,
    *,
    whiten: bool = True,
    source_reweight: float = 1.0,
    target_reweight: float = 0.0,
    source_dewhiten: Side | None = "source",
    target_dewhiten: Side | None = "target",
    fixed_target: bool = True,
    ridge: float = 1e-3,
) -> Maps:
    """VecMap's multi-step map: whiten, rotate both sides, re-weight, de-whiten (Artetxe et al. 2018a).

    With U S V^T = svd((X A_x)^T (Z A_z)) the sides become X A_x U S^a and Z A_z V S^b, then de-whitened.
    With `fixed_target` (a = source_reweight, b = 0, target de-whitened by itself) the target's map is the rotation V,
    and multiplying both sides by V^T leaves the target untouched: X <- X A_x U S^a U^T A_x^-1 U V^T.

    Args:
        source: [p, d], the source vectors of the pairs.
        target: [p, d], the target vectors of the pairs.
        whiten: False leaves A = I and ignores both de-whitenings.
        source_reweight: Exponent of S on the source side; S holds the canonical correlations when whitened.
        target_reweight: Exponent of S on the target side.
        source_dewhiten: Whose whitening is undone on the source side; None leaves the vectors white.
        target_dewhiten: The same for the target side.
        fixed_target: Whether both sides are turned back into the target's own space.
        ridge: See `whitening`.
    """
    source, target = source.double(), target.double()
    identity = torch.eye(source.shape[1], dtype=torch.float64)
    white_x, colour_x = whitening(source, ridge) if whiten else (identity, identity)
    white_z, colour_z = whitening(target, ridge) if whiten else (identity, identity)
    u, s, vt = torch.linalg.svd((source @ white_x).T @ (target @ white_z))
    colours = {"source": u.T @ colour_x @ u, "target": vt @ colour_z @ vt.T}
    map_x = white_x @ u * s**source_reweight
    map_z = white_z @ vt.T * s**target_reweight
    if whiten and source_dewhiten:
        map_x = map_x @ colours[source_dewhiten]
    if whiten and target_dewhiten:
        map_z = map_z @ colours[target_dewhiten]
    return Maps(map_x @ vt, None) if fixed_target else Maps(map_x, map_z)
