"""Does a map say something about words that it was not fitted to? The question that needs no test dictionary.

Self-learning raises its own objective on any data, unrelated languages included, so the objective proves nothing.
Here the source words are split in two, a map is fitted to the dictionary's pairs of one half, and the other half is
asked: how many of its words have a mutual CSLS neighbour in the hub language, and how near is it?
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
    """Mutual shares under rotations fitted to half of the source words."""

    seen: float
    """Of the words the rotation was fitted to."""
    unseen: float
    """Of the other words."""
    chance: float
    """Under a random rotation."""

    @property
    def gain(self) -> float:
        """What the fit gives to unseen words over what it gives to seen ones: near 1 if true, near 0 if spurious."""
        return (self.unseen - self.chance) / max(self.seen - self.chance, 1e-9)


def generalisation(source: Tensor, target: Tensor, pairs: tuple[Tensor, Tensor], seed: int = 0) -> Generalisation:
    """Fit to even source rows and ask odd ones, and the reverse.

    Args:
        source: [n, d] float32, normalised, not rotated.
        target: [m, d] float32, normalised.
        pairs: The learnt dictionary, source rows and target rows.
        seed: Of the random rotation.
    """
    induction = Induction(len(source), len(target))
    seen, unseen = 0.0, 0.0
    for half in (0, 1):
        kept = pairs[0] % 2 == half
        rotation = orthogonal_map(source[pairs[0][kept]].double().T @ target[pairs[1][kept]].double())
        mutual = induction(source @ rotation.float(), target).mutual()
        seen += float((mutual % 2 == half).sum()) / len(source)
        unseen += float((mutual % 2 != half).sum()) / len(source)
    draws = torch.randn(source.shape[1], source.shape[1], generator=torch.Generator().manual_seed(seed))
    chance = induction(source @ torch.linalg.qr(draws).Q, target).mutual()
    return Generalisation(seen, unseen, len(chance) / len(source))
