"""Selection: is a language better off aligned or as it is? Decided without any test dictionary."""

import json
from collections.abc import Sequence
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
    """Of the same words under the map that was fitted with them: flattered, for comparison only."""
    margin: float
    """By how much the mean CSLS had to rise."""

    def to_json(self) -> str:
        """The fields as JSON."""
        return json.dumps(asdict(self), indent=1) + "\n"


def select(
    unaligned: WordVectors,
    aligned: WordVectors,
    hub: WordVectors,
    *,
    final: Literal["advanced", "orthogonal"] = "advanced",
    folds: int = 2,
    limit: int = 20_000,
    neighbourhood: int = 10,
    margin: float = 0.0,
) -> Selection:
    """Choose the vectors whose words agree better with the hub language, on words the map was not fitted to.

    Self-learning raises the similarity of the very pairs it chose, so the aligned vectors as they are would nearly
    always win. Instead the source words are split into `folds` by rank; for each fold a map is fitted to the mutual
    neighbours (found in the aligned space) of the other words, and the fold's words are judged under that map. The
    hub's vectors are the same on both sides of the comparison, and CSLS takes out what a map changes of the overall
    level of similarity.

    Args:
        unaligned: The language's vectors, `normalise`d.
        aligned: The same words in the hub's space.
        hub: The hub's vectors, `normalise`d.
        final: The kind of map that made `aligned`, see `VecMap`.
        folds: Number of parts; each is judged under a map fitted to the others.
        limit: Most frequent words of each side that are compared.
        neighbourhood: k of CSLS.
        margin: How much the mean CSLS of held-out words must rise at least for "aligned".

    Raises:
        InputError: `unaligned` and `aligned` hold other words, or dimensions differ.
    """
    check_dimensions(unaligned, hub)
    check_dimensions(aligned, hub)
    if unaligned.words != aligned.words:
        raise InputError("selection: the unaligned and the aligned vectors must be of the same words in the same order")
    before, after, target = (_unit(side.matrix[:limit]) for side in (unaligned, aligned, hub))
    everyone = torch.arange(len(before))
    induced = Induction(len(after), len(target), neighbourhood)(after, target)
    mutual = induced.mutual()
    parts = []
    for fold in range(folds):
        asked = everyone[everyone % folds == fold]
        rows = mutual[mutual % folds != fold]
        weights = _map(before[rows], target[induced.forward[rows]], final)
        mapped = torch.nn.functional.normalize(before @ weights, dim=1)
        parts.append(agreement(mapped, target, asked, neighbourhood))
    judged = [agreement(before, target, everyone, neighbourhood), agreement(after, target, everyone, neighbourhood)]
    held_out = _pooled(parts)
    better = held_out.mean_csls - judged[0].mean_csls > margin
    return Selection("aligned" if better else "unaligned", judged[0], held_out, judged[1], margin)


def _map(source: Tensor, target: Tensor, final: str) -> Tensor:
    if final == "orthogonal":
        return orthogonal_map(source.double().T @ target.double()).float()
    return advanced_maps(source, target).source.float()


def _unit(matrix: NDArray[np.float32]) -> Tensor:
    return torch.from_numpy(normalise(matrix, ("unit",)))


def _pooled(parts: Sequence[Agreement]) -> Agreement:
    words = sum(part.words for part in parts)
    share = sum(part.mutual_share * part.words for part in parts) / words
    return Agreement(share, sum(part.mean_csls * part.words for part in parts) / words, words)
