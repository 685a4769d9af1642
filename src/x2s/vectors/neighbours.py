"""Nearest neighbours by cosine and CSLS, in tiles: all pairs are compared, never held.

CSLS (Conneau et al. 2018, "Word translation without parallel data"): csls(x, y) = 2 cos(x, y) - r(x) - r(y), where
r(x) is the mean cosine of x to its k nearest candidates and r(y) that of y to its k nearest on the queries' side. It
lowers the scores of hubs, words that are near to everything.

The search runs in float32; the few best are then scored again in float64 and ordered by (score, lower row first), so
that equal vectors get equal scores wherever they stand and ties do not depend on the tiling.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import torch

from x2s import progress
from x2s.errors import InputError

_QUERIES_PER_TILE = 1024
_CANDIDATES_PER_TILE = 1 << 15
_GROUP = 32  # candidates whose best is found first; only the best groups are looked at one by one
_MORE = 6  # looked at beyond k, so that float32 rounding in the search cannot displace a neighbour


def nearest(
    queries: np.ndarray,
    candidates: np.ndarray,
    k: int,
    *,
    method: Literal["cosine", "csls"] = "cosine",
    csls_k: int = 10,
    hubness: np.ndarray | None = None,
    exclude: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest candidates of each query, best first.

    Args:
        queries: [n, d], of any length; zero vectors have cosine 0 with everything.
        candidates: [m, d].
        k: How many.
        method: "cosine" or "csls".
        csls_k: Neighbours in CSLS's means.
        hubness: [m] r(y) of each candidate, `mean_similarity(candidates, all_of_the_query_side)`. Give it where
            `queries` are only some of their side's words; by default it is taken over `queries`.
        exclude: [n] row of one candidate that is not for this query (itself, say), -1 for none.

    Returns:
        Rows [n, k] int64 and scores [n, k] float32; row -1 with score -inf where there are fewer than k candidates.

    Raises:
        InputError: Unequal dimensions, an unknown method, or k below 1.
    """
    if method not in ("cosine", "csls"):
        raise InputError(f"method must be 'cosine' or 'csls', got {method!r}")
    left, right = _unit(queries), _unit(candidates)
    _check(left, right, k, csls_k)
    penalty = None
    if method == "csls":
        penalty = _penalty(_mean_similarity(right, left, csls_k, "hubness") if hubness is None else hubness, len(right))
    rows = np.full((len(left), k), -1, dtype=np.int64)
    scores = np.full((len(left), k), -np.inf, dtype=np.float32)
    excluded = None if exclude is None else torch.from_numpy(np.array(exclude, dtype=np.int64))
    wanted = min(k, len(right))
    for start, end in _tiles(len(left), "neighbours"):
        banned = None if excluded is None else excluded[start:end]
        searches: list[_Ranking] = [(penalty, wanted, banned)]
        if penalty is not None:
            searches.append((None, min(csls_k, len(right)), None))
        found = _search(left[start:end], right, searches)
        cosines = _cosines(left[start:end], right, found[0])
        if penalty is not None:
            means = _best(_cosines(left[start:end], right, found[1]), csls_k).mean(axis=1)
            cosines = 2 * cosines - means[:, None] - 2 * penalty.numpy().astype(np.float64)[found[0]]
        if banned is not None:
            cosines[found[0] == banned.numpy()[:, None]] = -np.inf
        rows[start:end, :wanted], scores[start:end, :wanted] = _ordered(found[0], cosines.astype(np.float32), wanted)
    rows[np.isneginf(scores)] = -1
    return rows, scores


def mean_similarity(a: np.ndarray, b: np.ndarray, k: int = 10) -> np.ndarray:
    """Mean cosine [len(a)] float32 of each row of `a` to its k nearest rows of `b` (to all where b has fewer).

    Raises:
        InputError: Unequal dimensions, nothing in `b`, or k below 1.
    """
    left, right = _unit(a), _unit(b)
    _check(left, right, k, k)
    return _mean_similarity(left, right, k, "mean similarity")


def _mean_similarity(left: torch.Tensor, right: torch.Tensor, k: int, what: str) -> np.ndarray:
    means = np.empty(len(left), dtype=np.float32)
    for start, end in _tiles(len(left), what):
        (found,) = _search(left[start:end], right, [(None, min(k, len(right)), None)])
        means[start:end] = _best(_cosines(left[start:end], right, found), k).mean(axis=1)
    return means


def _penalty(hubness: np.ndarray, candidates: int) -> torch.Tensor:
    """Half of r(y): cosine - penalty orders the candidates of a query as CSLS does."""
    if hubness.shape != (candidates,):
        raise InputError(f"hubness must have one number for each of {candidates} candidates, got {hubness.shape}")
    return torch.from_numpy(np.array(hubness, dtype=np.float32)) / 2


def _check(left: torch.Tensor, right: torch.Tensor, k: int, csls_k: int) -> None:
    if left.shape[1] != right.shape[1]:
        raise InputError(f"both sides must have one dimension, got {left.shape[1]} and {right.shape[1]}")
    if k < 1 or csls_k < 1:
        raise InputError(f"k and csls_k must be at least 1, got {k} and {csls_k}")
    if not len(right):
        raise InputError("there are no candidates to search")


def _unit(matrix: np.ndarray) -> torch.Tensor:
    """A copy with rows of length 1 (zero rows stay zero)."""
    if matrix.ndim != 2:
        raise InputError(f"expected a matrix [words, dimensions], got shape {matrix.shape}")
    tensor = torch.from_numpy(np.array(matrix, dtype=np.float32))
    tensor /= torch.linalg.vector_norm(tensor, dim=1, keepdim=True).clamp_min(torch.finfo(torch.float32).tiny)
    return tensor


def _tiles(length: int, what: str) -> Iterator[tuple[int, int]]:
    report = progress.start(what, length, "words")
    for start in range(0, length, _QUERIES_PER_TILE):
        end = min(start + _QUERIES_PER_TILE, length)
        yield start, end
        report.advance(end - start)


_Ranking = tuple[torch.Tensor | None, int, torch.Tensor | None]


def _search(queries: torch.Tensor, candidates: torch.Tensor, rankings: list[_Ranking]) -> list[np.ndarray]:
    """For each ranking (penalty [m] or None, k, excluded [n] or None): rows [n, >= k] of the best cosine - penalty."""
    found: list[tuple[list[torch.Tensor], list[torch.Tensor]]] = [([], []) for _ in rankings]
    # Written over tile by tile: fresh memory of this size costs as much as the product itself.
    cosine_memory, ranked_memory = (
        torch.empty(len(queries) * min(len(candidates), _CANDIDATES_PER_TILE)) for _ in range(2)
    )
    for start in range(0, len(candidates), _CANDIDATES_PER_TILE):
        tile = candidates[start : start + _CANDIDATES_PER_TILE]
        size = len(queries) * len(tile)
        cosines = torch.mm(queries, tile.T, out=cosine_memory[:size].view(len(queries), len(tile)))
        for (penalty, k, excluded), (scores, rows) in zip(rankings, found, strict=True):
            ranked = cosines
            if penalty is not None:
                ranked = ranked_memory[:size].view_as(cosines)
                torch.sub(cosines, penalty[start : start + len(tile)], out=ranked)
            if excluded is not None:
                _exclude(ranked, excluded - start)
            best, columns = _tile_best(ranked, min(k + _MORE, len(tile)))
            scores.append(best)
            rows.append(columns + start)
    return [
        torch.cat(rows, dim=1).gather(1, _top(torch.cat(scores, dim=1), min(k + _MORE, len(candidates)))).numpy()
        for (_, k, _), (scores, rows) in zip(rankings, found, strict=True)
    ]


def _exclude(scores: torch.Tensor, excluded: torch.Tensor) -> None:
    inside = torch.nonzero((excluded >= 0) & (excluded < scores.shape[1])).squeeze(1)
    scores[inside, excluded[inside]] = -torch.inf


def _tile_best(scores: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores and columns [n, k] of the k best, lower columns first among equals.

    The k best lie in the k groups with the best maxima; finding maxima is much faster than selecting.
    """
    width = scores.shape[1]
    groups = width // _GROUP
    if groups <= 2 * k:
        places = _top(scores, k)
        return scores.gather(1, places), places
    whole = scores[:, : groups * _GROUP].view(-1, groups, _GROUP)
    chosen = _top(whole.amax(dim=2), k).sort(dim=1).values[:, :, None]
    values = whole.gather(1, chosen.expand(-1, -1, _GROUP)).flatten(1)
    columns = (chosen * _GROUP + torch.arange(_GROUP)).flatten(1)
    if groups * _GROUP < width:
        rest = torch.arange(groups * _GROUP, width)
        values = torch.cat([values, scores[:, rest]], dim=1)
        columns = torch.cat([columns, rest.expand(len(scores), -1)], dim=1)
    places = _top(values, k)
    return values.gather(1, places), columns.gather(1, places)


def _top(scores: torch.Tensor, k: int) -> torch.Tensor:
    """Places [n, k] of the k largest, lower places first among equals (`torch.topk` promises no order there)."""
    bits = (scores + 0.0).view(torch.int32)  # + 0.0 makes -0.0 equal to 0.0
    # The bits of floats are ordered as the floats are, once those of negative ones are turned around.
    keys = bits.bitwise_xor_((bits >> 31).bitwise_and_(0x7FFFFFFF)).to(torch.int64)
    keys.bitwise_left_shift_(32).sub_(torch.arange(scores.shape[1]))
    return torch.topk(keys, k, dim=1).indices


def _cosines(queries: torch.Tensor, candidates: torch.Tensor, rows: np.ndarray) -> np.ndarray:
    """Cosines [n, k] in float64 of each query with its candidates."""
    cosines = np.empty(rows.shape)
    left = queries.numpy().astype(np.float64)
    for column in range(rows.shape[1]):
        cosines[:, column] = np.einsum("nd,nd->n", left, candidates.numpy()[rows[:, column]].astype(np.float64))
    return cosines


def _best(cosines: np.ndarray, k: int) -> np.ndarray:
    return -np.sort(-cosines, axis=1)[:, :k]


def _ordered(rows: np.ndarray, scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort((rows, -scores), axis=1)[:, :k]
    return np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)
