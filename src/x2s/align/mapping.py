"""Mapping: the frozen result of an alignment."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from x2s.errors import FileFormatError, InputError
from x2s.files import whole
from x2s.vectors import WordVectors
from x2s.vectors.normalisation import Step, normalise, normalise_with_means

_VERSION = 1


@dataclass(frozen=True, eq=False)
class Mapping:
    """How one language's vectors go into the hub language's space. Calling it maps all words of a language."""

    weights: NDArray[np.float32]
    """[d, d] float32, applied to normalised rows from the right."""
    means: NDArray[np.float32]
    """[number of "center" steps, d], the source language's means, so that words unseen in `fit` are treated alike."""
    normalise_steps: tuple[Step, ...]
    hub_weights: NDArray[np.float32] | None = None
    """[d, d], or None where the hub stays where it is."""
    source_language: str | None = None
    hub_language: str | None = None
    objective: float = float("nan")
    """Mean best similarity of both directions under the last rotation; NaN without self-learning."""
    pairs: int = 0
    """Size of the dictionary that the weights were fitted to."""
    converged: bool = True
    """False if `max_iterations` ended the self-learning."""
    settings: dict[str, Any] = field(default_factory=dict)
    """The settings of the `VecMap` that made it."""
    history: tuple[dict[str, Any], ...] = ()
    """One entry per iteration: iteration, objective, keep, pairs, seconds."""

    def __call__(self, source: WordVectors) -> WordVectors:
        """The source language's vectors in the hub's space.

        Raises:
            InputError: Another dimension or another language than the mapping was fitted on.
        """
        self._check(source, self.source_language)
        rows, _ = normalise_with_means(source.matrix, self.normalise_steps, self.means)
        return source.with_matrix(_product(rows, self.weights))

    def hub(self, target: WordVectors) -> WordVectors:
        """The hub language's vectors in the common space: exactly `normalise(target.matrix)` if the hub is fixed.

        Raises:
            InputError: Another dimension or another language than the mapping was fitted on.
        """
        self._check(target, self.hub_language)
        rows = normalise(target.matrix, self.normalise_steps)
        return target.with_matrix(rows if self.hub_weights is None else _product(rows, self.hub_weights))

    def save(self, folder: str | Path) -> None:
        """Write mapping.safetensors and mapping.json into `folder`, whole or not at all."""
        tensors = {"weights": self.weights, "means": self.means}
        if self.hub_weights is not None:
            tensors["hub_weights"] = self.hub_weights
        about = {name: getattr(self, name) for name in _ABOUT}
        if np.isnan(self.objective):
            about["objective"] = None
        with whole(folder) as beside:
            beside.mkdir(parents=True)
            save_file({name: np.ascontiguousarray(value) for name, value in tensors.items()}, beside / _TENSORS)
            text = json.dumps({"version": _VERSION} | about, indent=1, ensure_ascii=False, allow_nan=False)
            (beside / _JSON).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read what `save` wrote.

        Raises:
            InputError: The folder is not there.
            FileFormatError: A file in it is not what `save` writes.
        """
        folder = Path(folder)
        for name in (_TENSORS, _JSON):
            if not (folder / name).is_file():
                raise InputError(
                    f"{folder}: expected a saved mapping with {_TENSORS} and {_JSON}, but {name} is absent"
                )
        about = _about(folder / _JSON)
        try:
            tensors = load_file(folder / _TENSORS)
            return cls(tensors["weights"], tensors["means"], hub_weights=tensors.get("hub_weights"), **about)
        except (SafetensorError, KeyError) as error:
            raise _unreadable(folder / _TENSORS, error) from error

    def _check(self, vectors: WordVectors, language: str | None) -> None:
        if vectors.dimension != len(self.weights):
            raise InputError(
                f"the mapping takes vectors of {len(self.weights)} dimensions, but the {vectors.language or 'given'} "
                f"vectors have {vectors.dimension}: fit it on vectors of the same method and teacher"
            )
        if language and vectors.language and language != vectors.language:
            raise InputError(f"this side of the mapping is for {language} vectors, but got {vectors.language} ones")


_TENSORS, _JSON = "mapping.safetensors", "mapping.json"
_ABOUT: Sequence[str] = (
    "normalise_steps",
    "source_language",
    "hub_language",
    "objective",
    "pairs",
    "converged",
    "settings",
    "history",
)


def _product(rows: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    product: NDArray[np.float32] = rows @ weights
    return product


def _about(path: Path) -> dict[str, Any]:
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
        about = {name: written[name] for name in _ABOUT}
        about["objective"] = float("nan") if about["objective"] is None else about["objective"]
        return about | {name: tuple(about[name]) for name in ("normalise_steps", "history")}
    except (ValueError, KeyError, TypeError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> FileFormatError:
    return FileFormatError(path, None, f"expected what Mapping.save writes, got {error!r}; align again")
