"""Synthetic languages: clustered, heavy-tailed vectors, and rotated noisy copies of them."""

from collections.abc import Callable

import numpy as np
import pytest

from x2s.vectors import WordVectors

Languages = tuple[WordVectors, WordVectors, np.ndarray]


def clustered(rng: np.random.Generator, words: int, dimension: int) -> np.ndarray:
    centres = rng.normal(size=(30, dimension)) * np.linspace(2, 0.3, dimension)
    sizes = rng.random(30) ** 3
    noise = rng.normal(size=(words, dimension)) / np.sqrt(rng.random((words, 1)) + 0.1)
    return centres[rng.choice(30, words, p=sizes / sizes.sum())] + noise


@pytest.fixture(scope="session")
def planted() -> Callable[..., Languages]:
    """(source, target, rotation): the target's word w is the source's word w, rotated, with noise."""

    def make(words: int = 600, dimension: int = 30, noise: float = 0.2, seed: int = 0) -> Languages:
        rng = np.random.default_rng(seed)
        matrix = clustered(rng, words, dimension)
        rotation = np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]
        other = (matrix + noise * rng.normal(size=matrix.shape) * matrix.std(0)) @ rotation
        names = [f"w{row}" for row in range(words)]
        source = WordVectors(tuple(f"s{name}" for name in names), matrix.astype(np.float32), "xx")
        target = WordVectors(tuple(f"t{name}" for name in names), other.astype(np.float32), "en")
        return source, target, rotation

    return make


@pytest.fixture(scope="session")
def unrelated() -> tuple[WordVectors, WordVectors]:
    """Two languages that have nothing in common."""
    sides = [clustered(np.random.default_rng(seed), 400, 50).astype(np.float32) for seed in (1, 2)]
    x, z = (
        WordVectors(tuple(f"{code}{row}" for row in range(400)), side, code)
        for code, side in zip(("xx", "en"), sides, strict=True)
    )
    return x, z
