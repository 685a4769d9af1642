"""Selection: is a language better off aligned or as it is? Decided without any test dictionary."""

import json
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from x2s.align.dictionaries import check_dimensions
from x2s.align.evidence import Agreement, agreement
from x2s.align.induction import Induction
from x2s.align.procrustes import orthogonal_map
from x2s.errors import InputError
from x2s.vectors import WordVectors
from x2s.vectors.normalisation import normalise


@dataclass(frozen=True)
class Selection:
    """The choice and what it rests on."""

    choice: Literal["aligned", "unaligned"]
    unaligned: Agreement
    """Of all source words that were compared, as they are."""
    held_out: Agreement
    """Of the same words, each rotated by a rotation that was fitted without it: what decides."""
    aligned: Agreement
    """Of the same words under the map that was fitted with them: flattered, so it can only speak against alignment."""
    final: Literal["advanced", "orthogonal"]
    """The kind of map that made the aligned vectors."""
    margin: float
    """By how much the mean CSLS of held-out words had to rise."""

    def to_json(self) -> str:
        """The fields as JSON."""
        return json.dumps(asdict(self), indent=1) + "\n"


def select(
    unaligned: WordVectors,
    aligned: WordVectors,
    hub: WordVectors,
    *,
    final: Literal["advanced", "orthogonal"] = "advanced",
    anchor: float = 0.0,
    folds: int = 20,
    limit: int = 20_000,
    neighbourhood: int = 10,
    margin: float = 0.0,
) -> Selection:
    """Choose the vectors whose words agree better with the hub language, on words the map was not fitted to.

    Self-learning raises the similarity of the very pairs it chose, so the aligned vectors as they are would nearly
    always win. Instead the source words are dealt into `folds`; each fold is rotated by a rotation that is fitted to
    the best translations, in the aligned space, of all other words. Aligned is chosen if under these rotations the mean
    CSLS of the words' best translations rises over that of the unaligned vectors, and under the given map, too.
    Rotations stand in for advanced maps: those stretch each fold a little differently, which costs similarity without
    saying anything about the alignment.

    Args:
        unaligned: The language's vectors, `normalise`d.
        aligned: The same words in the hub's space.
        hub: The hub's vectors, `normalise`d.
        final: The kind of map that made `aligned`. It is recorded only: the test is the same for both.
        anchor: Of the `VecMap` that made `aligned`; the held-out rotations are pulled as much.
        folds: Number of parts; each is judged under a map fitted to the others. Few folds judge maps fitted to much
            less than all words, which is too pessimistic.
        limit: Most frequent words of each side that are compared.
        neighbourhood: k of CSLS.
        margin: By how much the mean CSLS of held-out words must rise for "aligned".

    Raises:
        InputError: `unaligned` and `aligned` hold other words, or dimensions differ.
    """
    check_dimensions(unaligned, hub)
    check_dimensions(aligned, hub)
    if unaligned.words != aligned.words:
        raise InputError("selection: the unaligned and the aligned vectors must be of the same words in the same order")
    before, after, target = (_unit(side.matrix[:limit]) for side in (unaligned, aligned, hub))
    asked = torch.arange(len(before))
    held_out = agreement(
        _cross_fitted(before, after, target, anchor, folds, neighbourhood), target, asked, neighbourhood
    )
    plain = agreement(before, target, asked, neighbourhood)
    fitted = agreement(after, target, asked, neighbourhood)
    better = held_out.mean_csls - plain.mean_csls > margin and fitted.mean_csls > plain.mean_csls
    return Selection("aligned" if better else "unaligned", plain, held_out, fitted, final, margin)


def _cross_fitted(
    before: Tensor, after: Tensor, target: Tensor, anchor: float, folds: int, neighbourhood: int
) -> Tensor:
    """Every row of `before` under a rotation fitted to the pairs of the rows of other folds."""
    induced = Induction(len(after), len(target), neighbourhood)(after, target)
    rows = torch.cat([torch.arange(len(after)), induced.backward])
    partners = torch.cat([induced.forward, torch.arange(len(target))])
    mapped = torch.empty_like(before)
    everyone = before[rows].double().T @ target[partners].double()
    for fold in range(folds):
        own = rows % folds == fold
        rotation = orthogonal_map(everyone - before[rows[own]].double().T @ target[partners[own]].double(), anchor)
        mapped[fold::folds] = before[fold::folds] @ rotation.float()
    return mapped


def _unit(matrix: NDArray[np.float32]) -> Tensor:
    return torch.from_numpy(normalise(matrix, ("unit",)))
