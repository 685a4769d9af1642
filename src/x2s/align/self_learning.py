"""VecMap's loop: fit a rotation to a dictionary, induce a better dictionary, until nothing improves."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

import torch
from torch import Tensor

from x2s import progress
from x2s.align.induction import Induced, Induction
from x2s.align.procrustes import orthogonal_map

Direction = Literal["union", "forward", "backward"]


@dataclass(frozen=True)
class Schedule:
    """When scores are dropped, and when to stop; the fields are those of `VecMap`."""

    stochastic_initial: float
    stochastic_multiplier: float
    stochastic_interval: int
    threshold: float
    max_iterations: int
    direction: Direction
    anchor: float = 0.0


@dataclass(frozen=True)
class Learnt:
    """The result of the loop: the last dictionary, and how it went."""

    source_rows: Tensor
    target_rows: Tensor
    objective: float
    converged: bool
    history: tuple[dict[str, Any], ...]


def learn(
    source: Tensor,
    target: Tensor,
    pairs: tuple[Tensor, Tensor],
    induction: Induction,
    schedule: Schedule,
    generator: torch.Generator,
    what: str,
) -> Learnt:
    """Iterate until the keep probability is 1 and the dictionary stays, or the last `stochastic_interval` were in vain.

    Args:
        source: [n, d] float32, normalised, the words that take part.
        target: [m, d] float32, likewise.
        pairs: Source rows and target rows of the first dictionary; they may lie beyond n and m only if the caller
            passed matrices that hold them.
        induction: Buffers for n x m, or for fewer words: it looks at the first rows of both sides.
        schedule: Settings.
        generator: On the CPU.
        what: Name of the loop in the progress display.
    """
    keep, best, waited = schedule.stochastic_initial, float("-inf"), 0
    history: list[dict[str, Any]] = []
    bar = progress.start(what, None, "iterations")
    n, m = induction.n, induction.m
    converged = False
    while True:
        began = perf_counter()
        rotation = orthogonal_map(_cross_covariance(source, target, pairs), schedule.anchor)
        induced = induction(source[:n] @ rotation.float(), target[:m], keep, generator)
        before, pairs = pairs, _dictionary(induced, schedule.direction)
        improved = induced.objective - best >= schedule.threshold
        best, waited = (induced.objective, 0) if improved else (best, waited + 1)
        entry = {"iteration": len(history) + 1, "objective": induced.objective, "keep": keep, "pairs": len(pairs[0])}
        history.append(entry | {"seconds": perf_counter() - began})
        bar.advance(note=f"objective {induced.objective:.4f}, keep {keep:.2f}")
        if keep >= 1.0 and _same(before, pairs):
            converged = True  # nothing is random any more: all further iterations would repeat this one
            break
        if waited >= schedule.stochastic_interval:
            if keep >= 1.0:
                converged = True
                break
            keep, waited = min(1.0, keep * schedule.stochastic_multiplier), 0
        if len(history) >= schedule.max_iterations:
            break
    return Learnt(*pairs, induced.objective, converged, tuple(history))


def _cross_covariance(source: Tensor, target: Tensor, pairs: tuple[Tensor, Tensor]) -> Tensor:
    return source[pairs[0]].T @ target[pairs[1]]


def _same(before: tuple[Tensor, Tensor], pairs: tuple[Tensor, Tensor]) -> bool:
    return torch.equal(before[0], pairs[0]) and torch.equal(before[1], pairs[1])


def _dictionary(induced: Induced, direction: Direction) -> tuple[Tensor, Tensor]:
    """A mutual pair counts twice in the union, as in the reference."""
    source: list[Tensor] = []
    target: list[Tensor] = []
    if direction in ("union", "forward"):
        rows = torch.nonzero(induced.forward >= 0)[:, 0]
        source.append(rows)
        target.append(induced.forward[rows])
    if direction in ("union", "backward"):
        rows = torch.nonzero(induced.backward >= 0)[:, 0]
        source.append(induced.backward[rows])
        target.append(rows)
    return torch.cat(source), torch.cat(target)
