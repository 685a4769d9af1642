"""Aggregated and whitened context against independent NumPy in float64, and as streams and shards."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from x2s.contextual.occurrences import Occurrences
from x2s.corpus.vocabulary import Vocabulary
from x2s.errors import InputError
from x2s.static import Aggregated, WhitenedContext
from x2s.static.whitened_context import inverse_square_root

DIMENSION = 6


def vocabulary(words: int) -> Vocabulary:
    return Vocabulary(tuple(f"w{row}" for row in range(words)), np.arange(words, 0, -1, dtype=np.int64) * 3)


def occurrences(n: int, words: int, seed: int = 0, offset: float = 3.0) -> Occurrences:
    """Contexts with a mean far from zero and unequal variances, as those of real teachers."""
    rng = torch.Generator().manual_seed(seed)
    spread = torch.linspace(0.2, 2.0, DIMENSION)
    return Occurrences(
        torch.randint(words, (n,), generator=rng),
        torch.arange(n) // 5,
        torch.randn(n, DIMENSION, generator=rng),
        torch.randn(n, DIMENSION, generator=rng) * spread + offset,
        {4: torch.randn(n, DIMENSION, generator=rng)},
    )


def cut(batch: Occurrences, begin: int, end: int) -> Occurrences:
    return Occurrences(
        batch.word_ids[begin:end],
        batch.sentence_ids[begin:end],
        batch.own[begin:end],
        batch.context[begin:end],
        {layer: rows[begin:end] for layer, rows in batch.own_by_layer.items()},
    )


def expected_means(batch: Occurrences, rows: torch.Tensor) -> dict[int, np.ndarray]:
    ids, vectors = batch.word_ids.numpy(), rows.numpy().astype(np.float64)
    return {int(word): vectors[ids == word].mean(axis=0) for word in np.unique(ids)}


def test_aggregated_is_the_mean_of_own_vectors() -> None:
    batch = occurrences(200, words=12)
    for layer, rows in ((None, batch.own), (4, batch.own_by_layer[4])):
        estimator = Aggregated(vocabulary(12), DIMENSION, "xx", layer)
        estimator.update(batch)
        vectors = estimator.vectors()
        for word, mean in expected_means(batch, rows).items():
            np.testing.assert_allclose(vectors[f"w{word}"], mean, atol=1e-6)


@pytest.mark.parametrize("ridge", [0.0, 0.03, 1.0])
def test_whitened_context_is_its_formula(ridge: float) -> None:
    batch = occurrences(300, words=12, offset=50.0)
    estimator = WhitenedContext(vocabulary(12), DIMENSION, "xx", ridge)
    estimator.update(batch)
    vectors = estimator.vectors()

    contexts = batch.context.numpy().astype(np.float64)
    covariance = np.cov(contexts.T, bias=True)
    variances, directions = np.linalg.eigh(covariance + ridge * np.trace(covariance) / DIMENSION * np.eye(DIMENSION))
    whitening = directions @ np.diag(variances**-0.5) @ directions.T
    for word, mean in expected_means(batch, batch.context).items():
        np.testing.assert_allclose(vectors[f"w{word}"], whitening @ (mean - contexts.mean(axis=0)), atol=2e-5)


def test_whitened_contexts_have_the_identity_as_covariance() -> None:
    batch = occurrences(500, words=3)
    estimator = WhitenedContext(vocabulary(3), DIMENSION, "xx")
    estimator.update(batch)
    mean, covariance = estimator.statistics()
    whitened = (batch.context.double() - mean) @ inverse_square_root(covariance, 0.0)
    torch.testing.assert_close(
        whitened.T @ whitened / 500, torch.eye(DIMENSION, dtype=torch.float64), atol=1e-5, rtol=0
    )


def test_a_direction_without_variance_is_dropped_and_not_blown_up() -> None:
    root = inverse_square_root(torch.diag(torch.tensor([4.0, 1.0, 0.0])), ridge=0.0)
    torch.testing.assert_close(root, torch.diag(torch.tensor([0.5, 1.0, 0.0], dtype=torch.float64)))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 1000),
    cuts=st.lists(st.integers(0, 120), max_size=4).map(sorted),
    method=st.sampled_from([Aggregated, WhitenedContext]),
)
def test_streams_and_merged_shards_equal_one_batch(seed: int, cuts: list[int], method: type) -> None:
    batch = occurrences(120, words=9, seed=seed, offset=20.0)
    bounds = [0, *cuts, 120]
    pieces = [cut(batch, begin, end) for begin, end in itertools.pairwise(bounds)]
    whole, streamed, merged = (method(vocabulary(9), DIMENSION, "xx") for _ in range(3))
    whole.update(batch)
    for piece in pieces:
        streamed.update(piece)
        shard = method(vocabulary(9), DIMENSION, "xx")
        shard.update(piece)
        merged.merge(shard)
    for other in (streamed, merged):
        assert other.vectors().words == whole.vectors().words
        np.testing.assert_allclose(other.vectors().matrix, whole.vectors().matrix, atol=1e-5)


@pytest.mark.parametrize("method", [Aggregated, WhitenedContext])
def test_resumed_equals_straight_to_the_bit(method: type) -> None:
    batch = occurrences(100, words=9)
    straight, first, second = (method(vocabulary(9), DIMENSION, "xx") for _ in range(3))
    for estimator in (straight, first):
        estimator.update(cut(batch, 0, 40))
    second.load_state_dict(first.state_dict())
    for estimator in (straight, second):
        estimator.update(cut(batch, 40, 100))
    assert np.array_equal(straight.vectors().matrix, second.vectors().matrix)


@pytest.mark.parametrize("method", [Aggregated, WhitenedContext])
def test_words_that_never_occurred_have_no_vector(method: type) -> None:
    batch = occurrences(50, words=4)
    estimator = method(vocabulary(7), DIMENSION, "xx")
    estimator.update(batch)
    vectors = estimator.vectors()
    assert vectors.words == ("w0", "w1", "w2", "w3")
    assert vectors.counts is not None and vectors.counts.tolist() == [21, 18, 15, 12]
    assert vectors.language == "xx"


@pytest.mark.parametrize("method", [Aggregated, WhitenedContext])
def test_a_vocabulary_of_one_word(method: type) -> None:
    estimator = method(vocabulary(1), DIMENSION, "xx")
    estimator.update(occurrences(5, words=1))
    assert np.isfinite(estimator.vectors().matrix).all()


@pytest.mark.parametrize("method", [Aggregated, WhitenedContext])
def test_mistakes_are_explained(method: type) -> None:
    estimator = method(vocabulary(3), DIMENSION, "xx")
    with pytest.raises(InputError, match="none of the 3 words"):
        estimator.vectors()
    with pytest.raises(InputError, match=r"word ids in \[0, 3\)"):
        estimator.update(occurrences(50, words=9))
    with pytest.raises(InputError, match="expected dimension 6, got 5"):
        estimator.merge(method(vocabulary(3), 5, "xx"))
    with pytest.raises(InputError, match="different vocabularies"):
        estimator.merge(method(vocabulary(4), DIMENSION, "xx"))
    with pytest.raises(InputError, match=r"dimension 5, got shape \(9, 6\)"):
        method(vocabulary(3), 5, "xx").update(occurrences(9, words=3))
    with pytest.raises(InputError, match=r"expected 'sums' of shape \(3, 6\), got shape \(4, 6\)"):
        estimator.load_state_dict(method(vocabulary(4), DIMENSION, "xx").state_dict())


@pytest.mark.parametrize("method", [Aggregated, WhitenedContext])
def test_an_overflowing_teacher_is_named(method: type) -> None:
    batch = occurrences(50, words=3)
    batch.own[3] = torch.inf
    batch.context[3] = torch.inf
    estimator = method(vocabulary(3), DIMENSION, "xx")
    estimator.update(batch)
    with pytest.raises(InputError, match=r"vectors of 1 words .* not finite"):
        estimator.vectors()


def test_a_missing_layer_and_a_negative_ridge_are_explained() -> None:
    with pytest.raises(InputError, match=r"layer 9, got layers \[4\]"):
        Aggregated(vocabulary(3), DIMENSION, "xx", layer=9).update(occurrences(5, words=3))
    with pytest.raises(InputError, match="expected layer None, got 4"):
        Aggregated(vocabulary(3), DIMENSION, "xx").merge(Aggregated(vocabulary(3), DIMENSION, "xx", layer=4))
    with pytest.raises(InputError, match="ridge: expected 0 or more"):
        WhitenedContext(vocabulary(3), DIMENSION, "xx", ridge=-1.0)
