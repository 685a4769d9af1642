"""Normalised parts, side by side or summed."""

import numpy as np
import pytest

from x2s.errors import InputError
from x2s.static import combine
from x2s.vectors import WordVectors
from x2s.vectors.normalisation import normalise


def vectors(words: str, seed: int, dimension: int = 5, language: str = "xx") -> WordVectors:
    matrix = np.random.default_rng(seed).normal(2, 1, (len(words), dimension)).astype(np.float32)
    return WordVectors(tuple(words), matrix, language, np.arange(len(words), 0, -1))


def test_each_part_is_normalised_over_the_shared_words() -> None:
    first, second = vectors("abcde", 0), vectors("xedcb", 1)
    both, total = combine(first, second), combine(first, second, by="sum")
    for found in (both, total):
        assert found.words == ("b", "c", "d", "e")
        assert found.counts is not None and found.counts.tolist() == [4, 3, 2, 1]

    def golden(rows: np.ndarray) -> np.ndarray:
        rows = rows.astype(np.float64)
        rows = rows / np.sqrt((rows**2).sum(1, keepdims=True))
        rows = rows - rows.sum(0) / len(rows)
        return rows / np.sqrt((rows**2).sum(1, keepdims=True))

    parts = golden(first.matrix[[1, 2, 3, 4]]), golden(second.matrix[[4, 3, 2, 1]])
    np.testing.assert_allclose(both.matrix, np.concatenate(parts, axis=1) / np.sqrt(2), atol=1e-6)
    np.testing.assert_allclose(total.matrix, parts[0] + parts[1], atol=1e-6)
    np.testing.assert_allclose(
        both.matrix @ both.matrix.T, (parts[0] @ parts[0].T + parts[1] @ parts[1].T) / 2, atol=1e-6
    )


def test_the_scale_of_a_part_does_not_matter() -> None:
    first, second = vectors("abcde", 0), vectors("abcde", 1)
    scaled = second.with_matrix(second.matrix * 100)
    np.testing.assert_allclose(combine(first, second).matrix, combine(first, scaled).matrix, atol=1e-5)


def test_parts_of_several_dimensions_are_concatenated() -> None:
    both = combine(vectors("ab", 0), vectors("ab", 1, dimension=3))
    assert both.dimension == 8
    np.testing.assert_allclose(np.linalg.norm(both.matrix, axis=1), 1, atol=1e-6)


def test_zero_rows_and_a_single_word_give_no_nan() -> None:
    assert np.isfinite(normalise(np.zeros((3, 4), np.float32))).all()
    one = vectors("a", 0)
    assert np.isfinite(combine(one, one).matrix).all()


def test_mistakes_are_explained() -> None:
    with pytest.raises(InputError, match="at least one set"):
        combine()
    with pytest.raises(InputError, match="dimension 5 as in the first part, got 4 in part 2"):
        combine(vectors("ab", 0), vectors("ab", 0, dimension=4), by="sum")
    with pytest.raises(InputError, match="language 'xx' as in the first part, got 'yy' in part 2"):
        combine(vectors("ab", 0), vectors("ab", 0, language="yy"))
    with pytest.raises(InputError, match="by='concatenation' or 'sum', got 'mean'"):
        combine(vectors("ab", 0), by="mean")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no word in common"):
        combine(vectors("ab", 0), vectors("cd", 0))
