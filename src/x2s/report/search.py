"""What the search box carries: words and quantised vectors of each language, small enough for one page.

A vector is cut to the leading directions of all languages together (an uncentred singular value decomposition:
the best approximation of inner products in that many dimensions), scaled to its largest component and rounded to
int8. The cosine does not see the scale, so none is stored.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from x2s.vectors import WordVectors

_LEAST_DIMENSIONS = 128
_CSLS_NEIGHBOURS = 10


def search_data(
    vectors: Mapping[str, WordVectors], names: Mapping[str, str], *, words: int = 3000, budget: int = 7_100_000
) -> dict[str, Any]:
    """Words, int8 vectors and hubness of the most frequent words of each language, ready for JSON.

    Args:
        vectors: Vectors in one common space, words by falling count.
        names: Name of each language to show.
        words: At most so many words per language.
        budget: Bytes of vectors and hubness in all; dimensions are cut first (not below 128), then words.

    Returns:
        `dimension`, `original_dimension`, and per language `code`, `name`, `words`, `vectors` (base64 of int8
        [n, dimension]) and `hubness` (base64 of uint8 [languages, n]: mean cosine of each word to its 10 nearest
        in the language of that row, times 255; the r of CSLS).
    """
    usable = {code: found for code, found in vectors.items() if len(found.words)}
    if not usable:
        return {"dimension": 0, "original_dimension": 0, "languages": []}
    original = next(iter(usable.values())).matrix.shape[1]
    most = max(min(words, len(found.words)) for found in usable.values())
    dimension = min(original, max(_LEAST_DIMENSIONS, budget // (most * len(usable)) - len(usable)))
    words = min(most, max(1, budget // ((dimension + len(usable)) * len(usable))))
    rows = {code: _unit(found.matrix[:words]) for code, found in usable.items()}
    if dimension < original:
        basis = _leading_directions(np.concatenate(list(rows.values())), dimension)
        rows = {code: _unit(matrix @ basis) for code, matrix in rows.items()}
    small = {code: _quantise(matrix) for code, matrix in rows.items()}
    hubness = _hubness({code: _unit(matrix.astype(np.float32)) for code, matrix in small.items()})
    return {
        "dimension": dimension,
        "original_dimension": original,
        "languages": [
            {
                "code": code,
                "name": names.get(code, code),
                "words": list(found.words[:words]),
                "vectors": _base64(small[code]),
                "hubness": _base64(np.stack([hubness[code, other] for other in usable])),
            }
            for code, found in usable.items()
        ],
    }


def _unit(matrix: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.maximum(length, 1e-12), dtype=np.float32)


def _leading_directions(matrix: np.ndarray, dimension: int) -> np.ndarray:
    """[d, dimension]: eigenvectors of the largest eigenvalues of X^T X."""
    _, directions = np.linalg.eigh((matrix.T @ matrix).astype(np.float64))
    return directions[:, ::-1][:, :dimension].astype(np.float32)


def _quantise(matrix: np.ndarray) -> np.ndarray:
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    return np.asarray(np.rint(matrix * (127.0 / np.maximum(largest, 1e-12))), dtype=np.int8)


def _hubness(units: Mapping[str, np.ndarray]) -> dict[tuple[str, str], np.ndarray]:
    """[n] uint8 by (language of the words, language of the queries): mean cosine to the nearest, 0..1 as 0..255.

    One product serves both directions of a pair.
    """
    tensors = {code: torch.from_numpy(matrix) for code, matrix in units.items()}
    found: dict[tuple[str, str], np.ndarray] = {}
    for first, second in combinations_with_replacement(units, 2):
        similar = tensors[first] @ tensors[second].T
        found[first, second] = _mean_of_nearest(similar)
        if first != second:
            found[second, first] = _mean_of_nearest(similar.T.contiguous())
    return found


def _mean_of_nearest(similar: torch.Tensor) -> np.ndarray:
    nearest = similar.topk(min(_CSLS_NEIGHBOURS, similar.shape[1]), dim=1, sorted=False).values.mean(dim=1)
    return (nearest.clamp(0.0, 1.0) * 255.0).round().to(torch.uint8).numpy()


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
