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
from x2s.align.preprocessing import normalise
from x2s.align.procrustes import advanced_maps, orthogonal_map
from x2s.errors import InputError
from x2s.vectors import WordVectors


@dataclass(frozen=True)
class Selection:
    """The choice and what it rests on."""

    choice: Literal["aligned", "unaligned"]
    unaligned: Agreement
    """Of all source words that were compared, as they are."""
    held_out: Agreement
    """Of the same words, each mapped by a map that was fitted without it: what decides."""
    aligned: Agreement
    """Of the same words under the map that was fitted with them: flattered, so it can only speak against alignment."""
    margin: float
    """By how much the share of mutual neighbours had to rise."""

    def to_json(self) -> str:
        """The fields as JSON."""
        return json.dumps(asdict(self), indent=1) + "\n"


def select(
    unaligned: WordVectors,
    aligned: WordVectors,
    hub: WordVectors,
    *,
    final: Literal["advanced", "orthogonal"] = "advanced",
    folds: int = 20,
    limit: int = 20_000,
    neighbourhood: int = 10,
    margin: float = 0.0,
) -> Selection:
    """Choose the vectors whose words agree better with the hub language, on words the map was not fitted to.

    Self-learning raises the similarity of the very pairs it chose, so the aligned vectors as they are would nearly
    always win. Instead the source words are dealt into `folds`; each fold is mapped by a map that is fitted to the
    best translations, in the aligned space, of all other words. Aligned is chosen if under these maps more words have
    a mutual CSLS neighbour in the hub language than without a map, and if the mean CSLS under the given map did not
    fall either. Shares of mutual neighbours, unlike cosines, are not moved by a map that merely stretches the space.

    Args:
        unaligned: The language's vectors, `normalise`d.
        aligned: The same words in the hub's space.
        hub: The hub's vectors, `normalise`d.
        final: The kind of map that made `aligned`, see `VecMap`.
        folds: Number of parts; each is judged under a map fitted to the others. Few folds judge maps fitted to much
            less than all words, which is too pessimistic.
        limit: Most frequent words of each side that are compared.
        neighbourhood: k of CSLS.
        margin: By how much the share of mutual neighbours must rise for "aligned".

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
        _cross_fitted(before, after, target, final, folds, neighbourhood), target, asked, neighbourhood
    )
    plain = agreement(before, target, asked, neighbourhood)
    fitted = agreement(after, target, asked, neighbourhood)
    better = held_out.mutual_share - plain.mutual_share > margin and fitted.mean_csls > plain.mean_csls
    return Selection("aligned" if better else "unaligned", plain, held_out, fitted, margin)


def _cross_fitted(before: Tensor, after: Tensor, target: Tensor, final: str, folds: int, neighbourhood: int) -> Tensor:
    """Every row of `before` under a map fitted to the pairs of the rows of other folds."""
    induced = Induction(len(after), len(target), neighbourhood)(after, target)
    rows = torch.cat([torch.arange(len(after)), induced.backward])
    partners = torch.cat([induced.forward, torch.arange(len(target))])
    mapped = torch.empty_like(before)
    for fold in range(folds):
        others = rows % folds != fold
        weights = _map(before[rows[others]], target[partners[others]], final)
        mapped[fold::folds] = torch.nn.functional.normalize(before[fold::folds] @ weights, dim=1)
    return mapped


def _map(source: Tensor, target: Tensor, final: str) -> Tensor:
    if final == "orthogonal":
        return orthogonal_map(source.double().T @ target.double()).float()
    return advanced_maps(source, target).source.float()


def _unit(matrix: NDArray[np.float32]) -> Tensor:
    return torch.from_numpy(normalise(matrix, ("unit",)))
