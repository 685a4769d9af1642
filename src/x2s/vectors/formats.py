"""Word2vec text and binary, fastText .vec and GloVe text, plain or gzipped."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np


def read_word2vec(
    path: str | Path,
    binary: bool | None = None,
    limit: int | None = None,
    *,
    errors: Literal["strict", "replace"] = "strict",
) -> tuple[tuple[str, ...], np.ndarray]:
    """Read words and their vectors [n, d] float32."""
    raise NotImplementedError


def write_word2vec(path: str | Path, words: Sequence[str], matrix: np.ndarray, binary: bool = False) -> None:
    """Write words and their vectors."""
    raise NotImplementedError
