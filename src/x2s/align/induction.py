"""Dictionary induction: every word's best translation by CSLS, in both directions, from one product.

The n x m similarities are computed once per call and kept (4 bytes each: 1.6 GB for 20,000 x 20,000), because the
CSLS means of one side are known only after all of the other side was seen. Everything else runs over them in tiles
with plain vectorised reductions: maxima of blocks find the few blocks that can hold the k nearest or the best one,
and only these blocks are looked into, so the result is exact.

A keep probability below 1 takes each score out of the running with probability 1 - keep. (The reference sets such
scores to 0, which differs only where all kept scores are negative.) Independent random numbers for all n x m scores
would cost more than the product; instead one tile of them is drawn per call and laid over the others with a random
shift, so that a pair of scores shares its fate only at a distance that changes from call to call.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from x2s.errors import InputError

_BLOCK = 40
_TILE = 32 * _BLOCK
_PAD = -100.0
_DROPPED = 16.0
_MOST_BYTES = 16 * 2**30
_SHIFTS = 1 << 20


class Induced(NamedTuple):
    """What one induction found; -1 where all scores of a word were dropped.

    Attributes:
        forward: [n] int64, best target row of each source row.
        backward: [m] int64, best source row of each target row.
        objective: Mean over both directions of the best plain similarity.
        source_means: [n], mean similarity of each source row to its k nearest target rows.
        target_means: [m], the same for target rows.
    """

    forward: Tensor
    backward: Tensor
    objective: float
    source_means: Tensor
    target_means: Tensor

    def mutual(self) -> Tensor:
        """[p] int64, source rows whose best target row chooses them in return."""
        rows = torch.arange(len(self.forward))
        answer = torch.where(self.forward >= 0, self.backward[self.forward.clamp_min(0)], -1)
        return rows[answer == rows]


class Induction:
    """Buffers for repeated induction between n source and m target vectors.

    Args:
        n: Number of source vectors.
        m: Number of target vectors.
        neighbourhood: k of CSLS; 0 retrieves by plain similarity.

    Raises:
        InputError: The similarities would not fit in 16 GB.
    """

    def __init__(self, n: int, m: int, neighbourhood: int = 10) -> None:
        self.n, self.m, self.neighbourhood = n, m, neighbourhood
        self.rows, self.columns = _padded(n), _padded(m)
        if self.rows * self.columns * 4 > _MOST_BYTES:
            raise InputError(
                f"vocabulary_cutoff: the similarities of {n} x {m} words need "
                f"{self.rows * self.columns * 4 / 2**30:.0f} GB of memory; "
                "choose 60,000 or less (the default is 20,000)"
            )
        self._similarity = torch.empty(self.rows, self.columns)
        self._scores = torch.empty(min(_TILE, self.rows), self.columns)
        self._tiles = [slice(a, min(a + _TILE, self.rows)) for a in range(0, self.rows, _TILE)]

    def __call__(
        self, source: Tensor, target: Tensor, keep: float = 1.0, generator: torch.Generator | None = None
    ) -> Induced:
        """Induce from vectors whose inner products are the similarities, in [-1, 1].

        Args:
            source: [n, d] float32, mapped.
            target: [m, d] float32, mapped.
            keep: Probability with which each score stays in the running.
            generator: Source of the drops, on the CPU; needed where `keep` is below 1.
        """
        drops = _Drops(self._scores.shape, len(self._tiles), keep, generator) if keep < 1 else None
        source_means = torch.empty(self.rows)
        row_best = torch.empty(self.rows)
        peaks = torch.empty(self.rows // _BLOCK, self.columns)
        score_peaks = torch.empty(self.rows // _BLOCK, self.columns)
        for number, tile in enumerate(self._tiles):
            similarity = self._multiply(source, target, tile)
            blocks = slice(tile.start // _BLOCK, tile.stop // _BLOCK)
            source_means[tile], row_best[tile] = self._row_means(similarity)
            torch.amax(similarity.view(-1, _BLOCK, self.columns), 1, out=peaks[blocks])
            scores = self._less(
                similarity, source_means[tile, None], drops.tile(number, len(similarity)) if drops else None
            )
            torch.amax(scores.view(-1, _BLOCK, self.columns), 1, out=score_peaks[blocks])
        target_means = self._column_means(peaks)
        backward = self._best_rows(score_peaks, source_means, drops)
        forward = self._best_columns(target_means, drops)
        objective = (row_best[: self.n].double().mean() + peaks.amax(0)[: self.m].double().mean()) / 2
        return Induced(forward, backward, float(objective), source_means[: self.n], target_means[: self.m])

    def _multiply(self, source: Tensor, target: Tensor, tile: slice) -> Tensor:
        similarity = self._similarity[tile]
        real = min(tile.stop, self.n) - tile.start
        if self.m == self.columns:
            torch.mm(source[tile], target.T, out=similarity[:real])
        else:
            similarity[:real, : self.m] = source[tile] @ target.T
            similarity[:, self.m :] = _PAD
        similarity[real:] = _PAD
        return similarity

    def _row_means(self, similarity: Tensor) -> tuple[Tensor, Tensor]:
        """Mean of the k largest of each row, and the largest: they lie in the k strided blocks of largest maxima."""
        parts = similarity.view(len(similarity), _BLOCK, -1)
        peaks = parts.amax(1)
        k = min(self.neighbourhood, self.m)
        if not k:
            return torch.zeros(len(similarity)), peaks.amax(1)
        chosen = peaks.topk(min(k, peaks.shape[1])).indices
        inside = torch.gather(parts, 2, chosen[:, None, :].expand(-1, _BLOCK, -1))
        nearest = inside.reshape(len(similarity), -1).topk(k).values
        return nearest.mean(1), nearest[:, 0]

    def _column_means(self, peaks: Tensor) -> Tensor:
        """The same for columns, whose blocks are runs of rows: read from the kept similarities."""
        k = min(self.neighbourhood, self.n)
        means = torch.zeros(self.columns)
        if not k:
            return means
        within = torch.arange(_BLOCK)
        for a in range(0, self.columns, _TILE):
            columns = torch.arange(a, min(a + _TILE, self.columns))
            chosen = peaks[:, a : a + _TILE].T.contiguous().topk(min(k, len(peaks))).indices
            rows = (chosen[:, :, None] * _BLOCK + within).view(len(columns), -1)
            inside = self._similarity.view(-1)[rows * self.columns + columns[:, None]]
            means[columns] = inside.topk(k).values.mean(1)
        return means

    def _best_rows(self, score_peaks: Tensor, source_means: Tensor, drops: "_Drops | None") -> Tensor:
        block = score_peaks[:, : self.m].argmax(0)
        columns = torch.arange(self.m)
        rows = block[:, None] * _BLOCK + torch.arange(_BLOCK)
        scores = self._similarity.view(-1)[rows * self.columns + columns[:, None]]
        weights = drops.at(rows, columns[:, None], transposed=False) if drops else 1.0
        scores = scores - weights * _above(source_means[rows]) / 2
        best, place = scores.max(1)
        return torch.where(best > _floor(), rows.gather(1, place[:, None])[:, 0], -1)

    def _best_columns(self, target_means: Tensor, drops: "_Drops | None") -> Tensor:
        best_columns = torch.empty(self.rows, dtype=torch.int64)
        strides = self.columns // _BLOCK
        for number, tile in enumerate(self._tiles):
            similarity = self._similarity[tile]
            size = len(similarity)
            scores = self._less(
                similarity, target_means[None], drops.tile(number, size, transposed=True) if drops else None
            )
            parts = scores.view(size, _BLOCK, strides)
            stride = parts.amax(1).argmax(1)
            best, place = parts[torch.arange(size), :, stride].max(1)
            best_columns[tile] = torch.where(best > _floor(), place * strides + stride, -1)
        return best_columns[: self.n]

    def _less(self, similarity: Tensor, means: Tensor, weights: Tensor | None) -> Tensor:
        """Similarity - r/2 in a buffer; r shifted by a constant so that a large weight can take a score out."""
        scores = self._scores[: len(similarity)]
        if weights is None:
            return torch.sub(similarity, _above(means) / 2, out=scores)
        return torch.addcmul(similarity, weights, _above(means), value=-0.5, out=scores)


class _Drops:
    """One tile of weights, 1 (kept) or 16 (dropped), laid over all tiles with random shifts."""

    def __init__(self, shape: torch.Size, tiles: int, keep: float, generator: torch.Generator | None) -> None:
        self.columns = shape[1]
        shifts = min(_SHIFTS, shape[0] * shape[1])
        draws = torch.empty(shape[0] * shape[1] + shifts, dtype=torch.int16)
        draws.random_(0, 1 << 15, generator=generator)
        self._pool = torch.where(draws < round(keep * (1 << 15)), 1.0, _DROPPED)
        self._shifts = torch.randint(shifts, (2, tiles), generator=generator)

    def tile(self, number: int, size: int, *, transposed: bool = False) -> Tensor:
        shift = int(self._shifts[int(transposed), number])
        return self._pool[shift : shift + size * self.columns].view(size, self.columns)

    def at(self, rows: Tensor, columns: Tensor, *, transposed: bool) -> Tensor:
        return self._pool[self._shifts[int(transposed), rows // _TILE] + rows % _TILE * self.columns + columns]


def _above(means: Tensor) -> Tensor:
    return means.clamp_min(-1.0) + 2.0


def _floor() -> float:
    """Below every kept score of unit vectors (-1 - 3/2), above every dropped one (1 - 16/2) and all padding."""
    return -3.0


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK
