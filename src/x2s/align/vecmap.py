"""VecMap (Artetxe et al. 2018a, 2018b) into a fixed hub space."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from x2s.align.dictionaries import check_dimensions, dictionary_rows, identical_words, mutual_neighbours
from x2s.align.evidence import generalisation
from x2s.align.induction import Induction
from x2s.align.mapping import Mapping
from x2s.align.procrustes import Maps, Side, advanced_maps, orthogonal_map
from x2s.align.self_learning import Direction, Learnt, Schedule, learn
from x2s.align.unsupervised_start import unsupervised_start
from x2s.errors import InputError, X2SError
from x2s.vectors import WordVectors
from x2s.vectors.normalisation import STEPS, Step, normalise, normalise_with_means

Mode = Literal["semi_supervised", "identical", "unsupervised", "supervised"]


_TRUE_OVER_CHANCE = 2.0
"""Measured: 3.1 and more where the alignment was true, 1.5 and less where it was not (docs/alignment.md)."""


class AlignmentFailedError(X2SError):
    """Unsupervised self-learning ended in a map no better than one between unrelated vectors."""


@dataclass(frozen=True)
class VecMap:
    """Settings of one alignment; `fit` runs it. Defaults are the paper's, in the form that leaves the hub in place
    and with a start at full keep probability where a seed dictionary is given.

    Raises:
        InputError: A setting out of its range, or settings that contradict each other.
    """

    mode: Mode = "semi_supervised"
    """supervised: one map from the dictionary. semi_supervised: self-learning from it. identical: from words spelt
    alike. unsupervised: from the languages' own similarity distributions."""
    _: KW_ONLY
    normalise_steps: tuple[Step, ...] = STEPS
    final: Literal["advanced", "orthogonal"] = "advanced"
    """The last map: whitened and re-weighted as in the paper, or the rotation, which keeps the language's geometry."""
    hub: Literal["fixed", "two_sided"] = "fixed"
    """fixed: the target's vectors come out bit-identical. two_sided: both move, as in the reference (0.5 and 0.5)."""
    whiten: bool = True
    source_reweight: float | None = None
    """Exponent of the singular values; None is 1 with a fixed hub and 0.5 if both sides move."""
    target_reweight: float | None = None
    """None is 0 with a fixed hub and 0.5 if both sides move."""
    source_dewhiten: Side | None = "source"
    target_dewhiten: Side | None = "target"
    ridge: float = 1e-3
    """Added to the covariances before whitening, as a share of the mean variance."""
    anchor: float = 0.0
    """Not in the paper: pull of all rotations towards staying in place, see `orthogonal_map`. For vectors of one
    multilingual teacher, whose coordinates mean the same in every language, and few words; try 0.3."""
    csls_neighbourhood: int = 10
    vocabulary_cutoff: int = 20_000
    """Most frequent words of each side that take part in self-learning."""
    unsupervised_words: int = 4_000
    """Most frequent words that the unsupervised start compares."""
    direction: Direction = "union"
    stochastic_initial: float | None = None
    """Probability with which a score is kept in the first phase. None is 0.1 as in the paper where the start is poor
    (unsupervised, identical), and 1 where a seed dictionary is given, which needs no escape from bad optima."""
    stochastic_multiplier: float = 2.0
    stochastic_interval: int = 50
    """Iterations without improvement after which the keep probability grows, and finally the loop ends."""
    threshold: float = 1e-6
    """Least improvement of the objective that counts."""
    max_iterations: int = 1_000
    restarts: int = 3
    """unsupervised: how often another start is tried before AlignmentFailedError."""
    seed: int = 0

    def __post_init__(self) -> None:
        _check_settings(self)

    def fit(
        self, source: WordVectors, target: WordVectors, dictionary: Sequence[tuple[str, str]] | None = None
    ) -> Mapping:
        """Align `source` to `target`, the hub. Both list words by falling frequency.

        Args:
            source: [n, d].
            target: [m, d].
            dictionary: (source word, target word) pairs, for the modes supervised and semi_supervised; there None
                takes `mutual_neighbours(source, target)`, which presumes vectors of one multilingual teacher.

        Raises:
            InputError: Unequal dimensions; no dictionary, or none of its words has a vector.
            AlignmentFailedError: An unsupervised start led nowhere, `restarts` times.
        """
        check_dimensions(source, target)
        x, means = normalise_with_means(source.matrix, self.normalise_steps)
        z, _ = normalise_with_means(target.matrix, self.normalise_steps)
        sides = torch.from_numpy(x), torch.from_numpy(z)
        what = f"align {source.language or 'source'}-{target.language or 'target'}"
        if self.mode == "unsupervised":
            learnt = self._learn_unsupervised(*sides, what)
        else:
            pairs = self._seed_rows(source, target, dictionary)
            learnt = self._learn(*sides, pairs, self.seed, what) if self.mode != "supervised" else _given(pairs)
        maps = self._final_maps(*sides, learnt)
        return Mapping(
            _array(maps.source),
            means,
            self.normalise_steps,
            None if maps.target is None else _array(maps.target),
            source.language,
            target.language,
            learnt.objective,
            len(learnt.source_rows),
            learnt.converged,
            asdict(self) | {"normalise_steps": list(self.normalise_steps)},
            learnt.history,
        )

    def placed(self, target: WordVectors) -> WordVectors:
        """The hub's vectors in the common space, if the hub is fixed: `normalise`d, nothing else."""
        return target.with_matrix(normalise(target.matrix, self.normalise_steps))

    def _seed_rows(
        self, source: WordVectors, target: WordVectors, dictionary: Sequence[tuple[str, str]] | None
    ) -> tuple[Tensor, Tensor]:
        if self.mode == "identical":
            return dictionary_rows(source, target, identical_words(source, target))
        if dictionary is None and self.mode == "semi_supervised":
            neighbourhood = self.csls_neighbourhood
            dictionary = mutual_neighbours(source, target, self.vocabulary_cutoff, neighbourhood=neighbourhood)
        if dictionary is None:
            raise InputError(
                "mode supervised needs a dictionary of word pairs; without one choose the mode semi_supervised "
                "(vectors of one multilingual teacher), identical or unsupervised"
            )
        return dictionary_rows(source, target, dictionary)

    def _learn(self, x: Tensor, z: Tensor, pairs: tuple[Tensor, Tensor], seed: int, what: str) -> Learnt:
        cutoff = self.vocabulary_cutoff
        induction = Induction(min(len(x), cutoff), min(len(z), cutoff), self.csls_neighbourhood)
        schedule = Schedule(
            self._first_keep(),
            self.stochastic_multiplier,
            self.stochastic_interval,
            self.threshold,
            self.max_iterations,
            self.direction,
            self.anchor,
        )
        return learn(x, z, pairs, induction, schedule, torch.Generator().manual_seed(seed), what)

    def _first_keep(self) -> float:
        if self.stochastic_initial is not None:
            return self.stochastic_initial
        return 1.0 if self.mode == "semi_supervised" else 0.1

    def _learn_unsupervised(self, x: Tensor, z: Tensor, what: str) -> Learnt:
        """Try starts from fewer and fewer words until the map also holds for words that it was not fitted to."""
        cutoff = self.vocabulary_cutoff
        for attempt in range(self.restarts):
            words = max(round(self.unsupervised_words * 0.75**attempt), 2)
            start = unsupervised_start(
                x, z, words=words, neighbourhood=self.csls_neighbourhood, steps=self.normalise_steps
            )
            learnt = self._learn(x, z, start, self.seed + attempt, what)
            proof = generalisation(x[:cutoff], z[:cutoff], (learnt.source_rows, learnt.target_rows), self.seed)
            if proof.over_chance >= _TRUE_OVER_CHANCE:
                return learnt
        raise AlignmentFailedError(
            f"{what}: unsupervised alignment found no common structure in {self.restarts} tries. The mean CSLS of best "
            f"translations is {proof.unseen:.3f} for words that the map was not fitted to ({proof.seen:.3f} for the "
            f"others), and {proof.chance:.3f} under a random map; expected {_TRUE_OVER_CHANCE:.0f} times that or more. "
            "Use more words or text, or give a seed dictionary: "
            "mode semi_supervised, or identical if the languages share words."
        )

    def _final_maps(self, x: Tensor, z: Tensor, learnt: Learnt) -> Maps:
        x_pairs, z_pairs = x[learnt.source_rows], z[learnt.target_rows]
        if self.final == "orthogonal":
            return Maps(orthogonal_map(x_pairs.double().T @ z_pairs.double(), self.anchor), None)
        fixed = self.hub == "fixed"
        half = None if fixed else 0.5
        return advanced_maps(
            x_pairs,
            z_pairs,
            whiten=self.whiten,
            source_reweight=_given_or(self.source_reweight, half, 1.0),
            target_reweight=_given_or(self.target_reweight, half, 0.0),
            source_dewhiten=self.source_dewhiten,
            target_dewhiten=self.target_dewhiten,
            fixed_target=fixed,
            ridge=self.ridge,
        )


def _given_or(value: float | None, half: float | None, fixed: float) -> float:
    if value is not None:
        return value
    return fixed if half is None else half


def _given(pairs: tuple[Tensor, Tensor]) -> Learnt:
    """The supervised mode's dictionary is taken as it is."""
    return Learnt(*pairs, float("nan"), True, ())


def _array(weights: Tensor) -> np.ndarray:
    return weights.float().contiguous().numpy()


def _check_settings(settings: VecMap) -> None:
    def check(name: str, holds: bool, expected: str) -> None:
        if not holds:
            raise InputError(f"{name}: expected {expected}, got {getattr(settings, name)!r}")

    for name, values in (
        ("mode", get_args(Mode)),
        ("final", ("advanced", "orthogonal")),
        ("hub", ("fixed", "two_sided")),
        ("direction", get_args(Direction)),
        ("source_dewhiten", (*get_args(Side), None)),
        ("target_dewhiten", (*get_args(Side), None)),
    ):
        check(name, getattr(settings, name) in values, " or ".join(repr(value) for value in values))
    for name in ("vocabulary_cutoff", "unsupervised_words", "stochastic_interval", "max_iterations", "restarts"):
        check(name, getattr(settings, name) >= 1, "1 or more")
    check("csls_neighbourhood", settings.csls_neighbourhood >= 0, "0 (plain similarity) or more")
    first = settings.stochastic_initial
    check("stochastic_initial", first is None or 0 < first <= 1, "None or a probability above 0")
    check("stochastic_multiplier", settings.stochastic_multiplier > 1, "more than 1")
    check("anchor", settings.anchor >= 0, "0 or more")
    check("anchor", not settings.anchor or settings.final == "orthogonal", "0 unless final='orthogonal'")
    check("ridge", settings.ridge >= 0, "0 or more")
    if settings.hub == "fixed" and settings.final == "advanced":
        check("target_reweight", not settings.target_reweight, "0 or None, because hub='fixed' leaves the target alone")
        stays = not settings.whiten or settings.target_dewhiten == "target"
        check("target_dewhiten", stays, "'target', because hub='fixed' leaves the target alone")
    if settings.hub == "two_sided":
        check("final", settings.final == "advanced", "'advanced', because a rotation never moves the target")
