"""normalise: unit, centre, unit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from x2s.align import normalise
from x2s.errors import InputError
from x2s.vectors.normalisation import normalise_with_means


def test_equals_the_formula_in_float64():
    matrix = np.random.default_rng(0).normal(1, 2, (50, 7)).astype(np.float32)
    rows = matrix.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows -= rows.mean(axis=0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(normalise(matrix), rows, atol=1e-6)


@given(st.integers(0, 2**31), st.floats(0.01, 100))
def test_the_scale_of_the_vectors_does_not_matter(seed, scale):
    matrix = np.random.default_rng(seed).normal(size=(9, 4)).astype(np.float32)
    np.testing.assert_allclose(normalise(matrix * np.float32(scale)), normalise(matrix), atol=1e-4)


def test_leaves_its_argument_and_zero_rows_alone():
    matrix = np.array([[3, 4], [0, 0]], dtype=np.float32)
    copy = matrix.copy()
    np.testing.assert_allclose(normalise(matrix, ("unit",)), [[0.6, 0.8], [0, 0]], rtol=1e-6)
    np.testing.assert_array_equal(matrix, copy)


def test_known_means_treat_a_part_like_the_whole():
    matrix = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)
    whole, means = normalise_with_means(matrix)
    part, _ = normalise_with_means(matrix[:5], means=means)
    np.testing.assert_array_equal(part, whole[:5])


@pytest.mark.parametrize(
    ("matrix", "steps", "message"),
    [
        (np.zeros((2, 2)), ("unti",), "'unti'"),
        (np.zeros(3), ("unit",), r"shape \(3,\)"),
        (np.array([[1.0, 2.0], [np.nan, 1.0]]), ("unit",), "first is row 1"),
    ],
)
def test_says_what_is_wrong(matrix, steps, message):
    with pytest.raises(InputError, match=message):
        normalise(matrix, steps)
