import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from x2s.errors import InputError
from x2s.vectors import mean_similarity, nearest, neighbours


def random(n: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def naive(a: np.ndarray, b: np.ndarray, k: int, csls_k: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The formula, in float64, all pairs at once."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    scores = (a / np.linalg.norm(a, axis=1, keepdims=True)) @ (b / np.linalg.norm(b, axis=1, keepdims=True)).T
    if csls_k:
        r_a = np.sort(scores, axis=1)[:, -csls_k:].mean(axis=1)
        r_b = np.sort(scores, axis=0)[-csls_k:].mean(axis=0)
        scores = 2 * scores - r_a[:, None] - r_b[None]
    rows = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return rows, np.take_along_axis(scores, rows, axis=1)


@pytest.fixture(params=[None, 300])
def tiles(request, monkeypatch):
    """As they are, and so small that everything is cut."""
    if request.param:
        monkeypatch.setattr(neighbours, "_CANDIDATES_PER_TILE", request.param)
        monkeypatch.setattr(neighbours, "_QUERIES_PER_TILE", 40)
        monkeypatch.setattr(neighbours, "_GROUP", 4)


@pytest.mark.parametrize("csls_k", [None, 1, 10])
@pytest.mark.parametrize("candidates", [3000, 301, 12])
def test_golden(tiles, csls_k, candidates):
    a, b = random(50, 16, 0), random(candidates, 16, 1)
    rows, scores = nearest(a, b, 10, method="csls" if csls_k else "cosine", csls_k=csls_k or 10)
    expected_rows, expected = naive(a, b, 10, csls_k)
    assert rows.dtype == np.int64
    assert scores.dtype == np.float32
    assert np.array_equal(rows, expected_rows)
    assert np.allclose(scores, expected, atol=1e-6)


def test_mean_similarity(tiles):
    a, b = random(50, 16, 0), random(900, 16, 1)
    assert np.allclose(mean_similarity(a, b, 10), naive(a, b, 10, None)[1].mean(axis=1), atol=1e-6)
    few = mean_similarity(a, b[:3], 10)
    assert np.allclose(few, naive(a, b[:3], 3, None)[1].mean(axis=1), atol=1e-6)


def test_csls_of_a_few_queries_with_the_hubness_of_all(tiles):
    a, b = random(400, 16, 0), random(700, 16, 1)
    some = np.array([5, 250, 17])
    rows, scores = nearest(a[some], b, 4, method="csls", hubness=mean_similarity(b, a))
    whole_rows, whole_scores = nearest(a, b, 4, method="csls")
    assert np.array_equal(rows, whole_rows[some])
    assert np.array_equal(scores, whole_scores[some])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(["cosine", "csls"]))
def test_permutation_equivariant(seed, method):
    a, b = random(30, 8, seed), random(200, 8, seed + 1)
    order_a, order_b = (np.random.default_rng(seed).permutation(length) for length in (30, 200))
    rows, scores = nearest(a, b, 5, method=method)
    permuted_rows, permuted_scores = nearest(a[order_a], b[order_b], 5, method=method)
    assert np.array_equal(order_b[permuted_rows], rows[order_a])
    assert np.allclose(permuted_scores, scores[order_a], atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_invariant_under_a_joint_rotation(seed):
    a, b = random(30, 8, seed), random(100, 8, seed + 1)
    rotation = np.linalg.qr(random(8, 8, seed + 2))[0]
    rows, _ = nearest(a, b, 3, method="csls")
    assert np.array_equal(nearest(a @ rotation, b @ rotation, 3, method="csls")[0], rows)


@pytest.mark.parametrize("method", ["cosine", "csls"])
def test_equal_candidates_come_in_the_order_of_their_rows(tiles, method):
    b = random(1000, 16, 0)
    twins = np.arange(3, 1000, 40)
    b[twins] = b[3]
    rows, scores = nearest(b[[3, 8]], b, 10, method=method)
    assert rows[0].tolist() == twins[:10].tolist()
    assert len(set(scores[0].tolist())) == 1
    assert np.array_equal(nearest(b[[3, 8]], b, 10, method=method)[0], rows)


def test_exclude(tiles):
    b = random(500, 8, 0)
    itself = np.arange(500)
    itself[7] = -1
    rows, _ = nearest(b, b, 3, exclude=itself)
    assert rows[7, 0] == 7
    assert not (rows[8:] == itself[8:, None]).any()
    assert np.array_equal(rows[8:], nearest(b, b, 4)[0][8:, 1:])


def test_fewer_candidates_than_asked_for():
    b = random(3, 8, 0)
    rows, scores = nearest(b, b, 5, exclude=np.arange(3))
    assert (rows[:, 2:] == -1).all()
    assert np.isneginf(scores[:, 2:]).all()
    assert sorted(rows[0, :2].tolist()) == [1, 2]


def test_zero_vectors_are_similar_to_nothing():
    b = np.vstack([np.zeros((1, 4)), np.eye(4)]).astype(np.float32)
    rows, scores = nearest(b, b, 2)
    assert scores[0].tolist() == [0, 0]
    assert rows[1, 0] == 1


def test_no_queries():
    assert nearest(np.empty((0, 4)), np.eye(4), 2, method="cosine")[0].shape == (0, 2)


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        (np.eye(3), np.eye(4), {}, "one dimension, got 3 and 4"),
        (np.eye(3), np.empty((0, 3)), {}, "no candidates"),
        (np.eye(3), np.eye(3), {"k": 0}, "at least 1"),
        (np.eye(3), np.eye(3), {"method": "l2"}, "'cosine' or 'csls'"),
        (np.eye(3), np.eye(3), {"method": "csls", "hubness": np.zeros(2)}, "one number for each of 3"),
        (np.zeros(3), np.eye(3), {}, "matrix"),
    ],
)
def test_wrong_arguments(a, b, options, message):
    with pytest.raises(InputError, match=message):
        nearest(a, b, **{"k": 1, **options})


MEASURED = """
import resource
import numpy as np
from x2s.vectors import nearest, neighbours
generator = np.random.default_rng(0)
a, b = (generator.standard_normal(size=(200_000, 300), dtype=np.float32) for _ in range(2))
real, neighbours._tiles = neighbours._tiles, lambda length, what: list(real(length, what))[:1]
nearest(a, b, 10, method="csls")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


@pytest.mark.slow
def test_200k_times_200k_fits_in_4_gb():
    """Everything has its full size; only the loop over tiles of queries is cut short: all tiles need the same."""
    gib = float(subprocess.run([sys.executable, "-c", MEASURED], capture_output=True, check=True, text=True).stdout)
    assert gib < 4 * 1e9 / 2**30
