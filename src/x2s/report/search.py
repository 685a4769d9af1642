"""What the search box carries: words and quantised vectors of each language, small enough for one page.

A vector is cut to the leading directions of all languages together (an uncentred singular value decomposition:
the best approximation of inner products in that many dimensions), scaled to its largest component and rounded to
int8. The cosine does not see the scale, so none is stored.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from x2s.vectors import WordVectors

_LEAST_DIMENSIONS = 128
_CSLS_NEIGHBOURS = 10


def search_data(
    vectors: Mapping[str, WordVectors], names: Mapping[str, str], *, words: int = 3000, budget: int = 7_000_000
) -> dict[str, Any]:
    """Words, int8 vectors and hubness of the most frequent words of each language, ready for JSON.

    Args:
        vectors: Vectors in one common space, words by falling count.
        names: Name of each language to show.
        words: At most so many words per language.
        budget: Bytes of vectors in all; dimensions are cut first (not below 128), then words.

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
    dimension = min(original, max(_LEAST_DIMENSIONS, budget // (most * len(usable))))
    words = min(most, max(1, budget // (dimension * len(usable))))
    rows = {code: _unit(found.matrix[:words]) for code, found in usable.items()}
    if dimension < original:
        basis = _leading_directions(np.concatenate(list(rows.values())), dimension)
        rows = {code: _unit(matrix @ basis) for code, matrix in rows.items()}
    small = {code: _quantise(matrix) for code, matrix in rows.items()}
    units = {code: _unit(matrix.astype(np.float32)) for code, matrix in small.items()}
    return {
        "dimension": dimension,
        "original_dimension": original,
        "languages": [
            {
                "code": code,
                "name": names.get(code, code),
                "words": list(found.words[:words]),
                "vectors": _base64(small[code]),
                "hubness": _base64(np.stack([_hubness(units[code], other) for other in units.values()])),
            }
            for code, found in usable.items()
        ],
    }


def _unit(matrix: np.ndarray) -> np.ndarray:
    finite = np.nan_to_num(np.asarray(matrix, dtype=np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    length = np.linalg.norm(finite, axis=1, keepdims=True)
    return finite / np.maximum(length, 1e-12)


def _leading_directions(matrix: np.ndarray, dimension: int) -> np.ndarray:
    """[d, dimension]: eigenvectors of the largest eigenvalues of X^T X."""
    _, directions = np.linalg.eigh((matrix.T @ matrix).astype(np.float64))
    return directions[:, ::-1][:, :dimension].astype(np.float32)


def _quantise(matrix: np.ndarray) -> np.ndarray:
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    return np.rint(matrix * (127.0 / np.maximum(largest, 1e-12))).astype(np.int8)


def _hubness(candidates: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """[n] uint8: mean cosine of each candidate to its nearest queries, 0..1 as 0..255."""
    k = min(_CSLS_NEIGHBOURS, len(queries))
    mean = np.empty(len(candidates), dtype=np.float32)
    for start in range(0, len(candidates), 2048):
        similar = candidates[start : start + 2048] @ queries.T
        mean[start : start + 2048] = np.partition(similar, -k, axis=1)[:, -k:].mean(axis=1)
    return np.rint(np.clip(mean, 0.0, 1.0) * 255.0).astype(np.uint8)


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
