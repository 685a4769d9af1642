"""Does a map say something about words that it was not fitted to? The question that needs no test dictionary.

Self-learning raises its own objective on any data, unrelated languages included, so the objective proves nothing.
Here maps are fitted to the dictionary's pairs of some source words, and the others are asked how near their best
translation is, by CSLS.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from x2s.align.induction import Induced, Induction
from x2s.align.procrustes import orthogonal_map


@dataclass(frozen=True)
class Agreement:
    """Neighbours of some source words in the hub language."""

    mutual_share: float
    """Share of the words whose CSLS neighbour chooses them in return."""
    mean_csls: float
    """Mean CSLS score (2 cos - r_source - r_target) of the best neighbours."""
    words: int
    """How many words were asked."""


def agreement(source: Tensor, target: Tensor, asked: Tensor, neighbourhood: int = 10) -> Agreement:
    """Agreement of the rows `asked` of `source`; both sides [., d] float32 of unit length, all rows compete."""
    induced = Induction(len(source), len(target), neighbourhood)(source, target)
    return _agreement(induced, source, target, asked)


def _agreement(induced: Induced, source: Tensor, target: Tensor, asked: Tensor) -> Agreement:
    best = induced.forward[asked]
    cosines = (source[asked] * target[best]).sum(1)
    scores = 2 * cosines - induced.source_means[asked] - induced.target_means[best]
    mutual = torch.isin(asked, induced.mutual()).double().mean()
    return Agreement(float(mutual), float(scores.double().mean()), len(asked))


@dataclass(frozen=True)
class Generalisation:
    """Mean CSLS of best translations under rotations fitted to half of the source words."""

    seen: float
    """Of the words the rotation was fitted to."""
    unseen: float
    """Of the other words."""
    chance: float
    """Under a random rotation."""

    @property
    def over_chance(self) -> float:
        """Unseen words' CSLS in multiples of chance: about 1 if the map is spurious, well above if it is true."""
        return self.unseen / max(self.chance, 1e-9)


def generalisation(source: Tensor, target: Tensor, pairs: tuple[Tensor, Tensor], seed: int = 0) -> Generalisation:
    """Fit to even source rows and ask odd ones, and the reverse.

    Args:
        source: [n, d] float32, normalised, not rotated.
        target: [m, d] float32, normalised.
        pairs: The learnt dictionary, source rows and target rows.
        seed: Of the random rotation.
    """
    halves = [torch.arange(half, len(source), 2) for half in (0, 1)]
    seen, unseen = 0.0, 0.0
    for fitted, others in (halves, halves[::-1]):
        kept = pairs[0] % 2 == fitted[0]
        rotation = orthogonal_map(source[pairs[0][kept]].double().T @ target[pairs[1][kept]].double())
        mapped = source @ rotation.float()
        seen += agreement(mapped, target, fitted).mean_csls / 2
        unseen += agreement(mapped, target, others).mean_csls / 2
    draws = torch.randn(source.shape[1], source.shape[1], generator=torch.Generator().manual_seed(seed))
    turned = source @ torch.linalg.qr(draws).Q
    return Generalisation(seen, unseen, agreement(turned, target, torch.arange(len(source))).mean_csls)
