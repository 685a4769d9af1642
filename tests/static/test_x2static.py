"""X2Static against autograd and PyTorch's SparseAdam, its sampling, and its reproducibility."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from x2s.contextual.occurrences import Occurrences
from x2s.corpus.vocabulary import Vocabulary
from x2s.errors import InputError
from x2s.static import X2Static
from x2s.static.sparse_adam import SparseAdam, logistic_gradient
from x2s.static.x2static import draw_negatives, keep_probabilities
from x2s.vectors import WordVectors

DIMENSION = 8


def vocabulary(words: int) -> Vocabulary:
    return Vocabulary(
        tuple(f"w{row}" for row in range(words)), np.array([1000 // (row + 1) + 1 for row in range(words)])
    )


def corpus(sentences: int, words: int, seed: int = 0) -> Occurrences:
    """Sentences of 1 to 7 words whose contexts lie in a direction of the word's own, with noise."""
    rng = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 8, (sentences,), generator=rng)
    sentence_ids = torch.arange(sentences).repeat_interleave(lengths)
    word_ids = torch.randint(words, (len(sentence_ids),), generator=rng)
    directions = torch.randn(words, DIMENSION, generator=rng)
    contexts = directions[word_ids] + 0.3 * torch.randn(len(word_ids), DIMENSION, generator=rng)
    return Occurrences(word_ids, sentence_ids, contexts.clone(), contexts)


def cut(batch: Occurrences, size: int) -> list[Occurrences]:
    parts = [tensor.split(size) for tensor in (batch.word_ids, batch.sentence_ids, batch.own, batch.context)]
    return [Occurrences(*part) for part in zip(*parts, strict=True)]


def test_steps_equal_autograd_with_pytorchs_sparse_adam() -> None:
    rng = torch.Generator().manual_seed(1)
    start = torch.randn(30, DIMENSION, generator=rng, dtype=torch.float64)
    ours = SparseAdam(start.clone(), 1e-2)
    theirs = torch.nn.Embedding.from_pretrained(start.clone(), freeze=False, sparse=True)
    optimiser = torch.optim.SparseAdam(theirs.parameters(), lr=1e-2)
    for _ in range(40):
        targets = torch.randint(30, (7,), generator=rng)
        negatives = torch.randint(30, (7, 4), generator=rng)
        # Large enough that some scores are beyond the clamp.
        contexts = 4 * torch.randn(7, DIMENSION, generator=rng, dtype=torch.float64)
        ours.step(*logistic_gradient(ours.table, targets, negatives, contexts))

        optimiser.zero_grad()
        positive = (theirs(targets) * contexts).sum(1).clamp(-20, 20)
        negative = (theirs(negatives) * contexts.unsqueeze(1)).sum(2).clamp(-20, 20)
        loss = -F.logsigmoid(positive).mean() - F.logsigmoid(-negative).mean(0).sum()
        loss.backward()
        optimiser.step()
        assert ours.losses[-1] == pytest.approx(loss.item(), rel=1e-12)
        torch.testing.assert_close(ours.table, theirs.weight.detach(), atol=1e-12, rtol=0)


def test_gradients_come_in_pieces_that_cover_all_rows_once() -> None:
    rng = torch.Generator().manual_seed(2)
    table = torch.randn(50, DIMENSION, generator=rng)
    gradient, _ = logistic_gradient(
        table,
        torch.randint(50, (90,), generator=rng),
        torch.randint(50, (90, 3), generator=rng),
        torch.randn(90, DIMENSION, generator=rng),
    )
    (rows, whole), *rest = gradient.pieces(size=1000)
    assert not rest
    pieces = list(gradient.pieces(size=7))
    assert torch.equal(torch.cat([part for part, _ in pieces]), rows)
    torch.testing.assert_close(torch.cat([part for _, part in pieces]), whole)


def test_negatives_follow_their_distribution_and_never_equal_the_target() -> None:
    weights = torch.tensor([5.0, 1.0, 0.0, 3.0, 2.0], dtype=torch.float64)
    rng = torch.Generator().manual_seed(0)
    for target in range(5):
        drawn = draw_negatives(weights.cumsum(0), torch.full((4000,), target), 10, rng)
        assert drawn.shape == (4000, 10)
        assert not (drawn == target).any()
        expected = weights.clone()
        expected[target] = 0
        share = torch.bincount(drawn.flatten(), minlength=5) / drawn.numel()
        torch.testing.assert_close(share.double(), expected / expected.sum(), atol=0.01, rtol=0)


def test_negatives_never_equal_the_target_in_a_vocabulary_of_two() -> None:
    targets = torch.randint(2, (5000,), generator=torch.Generator().manual_seed(0))
    drawn = draw_negatives(torch.tensor([1e9, 1e9 + 1e-6], dtype=torch.float64), targets, 3, torch.Generator())
    assert torch.equal(drawn, (1 - targets).unsqueeze(1).expand(-1, 3))


def test_keep_probabilities() -> None:
    counts = torch.tensor([900.0, 99.0, 1.0], dtype=torch.float64)
    kept = keep_probabilities(counts, 1e-3)
    assert kept.tolist() == pytest.approx([(1e-3 / 0.9) ** 0.5 + 1e-3 / 0.9, (1e-3 / 0.099) ** 0.5 + 1e-3 / 0.099, 1])
    assert keep_probabilities(counts, 0).tolist() == [1, 1, 1]


def test_the_result_does_not_depend_on_the_encoders_batches() -> None:
    batch = corpus(400, words=20)
    results = []
    for size in (1, 13, 500, 10_000):
        estimator = X2Static(vocabulary(20), DIMENSION, "xx", subsample=1e-2, seed=3)
        for part in cut(batch, size):
            estimator.update(part)
        results.append((estimator.vectors().matrix, estimator.losses))
    for matrix, losses in results[1:]:
        assert np.array_equal(matrix, results[0][0])
        assert losses == results[0][1]
    assert len(results[0][1]) == 4  # 128 + 128 + 128 + 16 sentences


def test_resumed_in_the_middle_of_a_batch_equals_straight_to_the_bit() -> None:
    parts = cut(corpus(700, words=20), 77)
    straight = X2Static(vocabulary(20), DIMENSION, "xx", subsample=1e-2)
    resumed = X2Static(vocabulary(20), DIMENSION, "xx", subsample=1e-2, seed=99)
    for number, part in enumerate(parts):
        if number == len(parts) // 2:
            resumed.load_state_dict(straight.state_dict())
        if number >= len(parts) // 2:
            resumed.update(part)
        straight.update(part)
    assert np.array_equal(straight.vectors().matrix, resumed.vectors().matrix)
    assert straight.losses == resumed.losses


def test_seeds_matter_and_repeat() -> None:
    def learn(seed: int) -> np.ndarray:
        estimator = X2Static(vocabulary(20), DIMENSION, "xx", seed=seed, subsample=0)
        estimator.update(corpus(200, words=20))
        return estimator.vectors().matrix

    assert np.array_equal(learn(1), learn(1))
    assert not np.array_equal(learn(1), learn(2))


def test_it_learns_which_words_fit_a_context() -> None:
    batch = corpus(3000, words=12)
    estimator = X2Static(vocabulary(12), DIMENSION, "xx", learning_rate=0.05, subsample=0, negatives=5)
    for _ in range(3):
        estimator.update(batch)
        estimator.flush()
    vectors = estimator.vectors()
    best = (batch.context @ torch.from_numpy(vectors.matrix.copy()).T).argmax(1)
    words = torch.tensor([int(word[1:]) for word in vectors.words])
    assert (words[best] == batch.word_ids).float().mean() > 0.9
    assert np.mean(estimator.losses[-5:]) < 0.5 * np.mean(estimator.losses[:5])


def test_losses_are_pinned() -> None:
    estimator = X2Static(vocabulary(20), DIMENSION, "xx", learning_rate=0.01, subsample=0)
    estimator.update(corpus(600, words=20))
    estimator.flush()
    assert estimator.losses == pytest.approx(PINNED_LOSSES, rel=1e-4)


PINNED_LOSSES = [7.71524, 7.657336, 7.578466, 7.523559, 7.439073]


def test_start_vectors_are_used_where_there_are_any_at_a_scale_that_can_learn() -> None:
    rows = np.random.default_rng(0).normal(3, 1, (3, DIMENSION)).astype(np.float32)
    start = WordVectors(("w3", "other", "w0"), 100 * rows)
    table = X2Static(vocabulary(20), DIMENSION, "xx", start=start).state_dict()["table"]
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    centred = unit - unit.mean(axis=0)
    expected = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    np.testing.assert_allclose(table[[3, 0]], expected[[0, 2]], atol=1e-5)
    assert table[[1, 2, 4]].abs().max() <= 1 / DIMENSION


def test_merging_weighs_each_word_by_its_training() -> None:
    first, second = (X2Static(vocabulary(20), DIMENSION, "xx", subsample=0, seed=seed) for seed in (0, 1))
    first.update(corpus(100, words=10))
    second.update(corpus(300, words=20, seed=1))
    only_second = second.vectors()["w15"].copy()
    before = first.vectors()["w2"].copy(), second.vectors()["w2"].copy()
    trained = first.state_dict()["trained"][2], second.state_dict()["trained"][2]
    first.merge(second)
    np.testing.assert_allclose(first.vectors()["w15"], only_second, atol=1e-6)
    expected = (before[0] * int(trained[0]) + before[1] * int(trained[1])) / int(trained[0] + trained[1])
    np.testing.assert_allclose(first.vectors()["w2"], expected, atol=1e-6)


def test_mistakes_are_explained() -> None:
    with pytest.raises(InputError, match="at least 2 words to draw negatives from, got 1"):
        X2Static(vocabulary(1), DIMENSION, "xx")
    with pytest.raises(InputError, match="negatives >= 1"):
        X2Static(vocabulary(3), DIMENSION, "xx", negatives=0)
    with pytest.raises(InputError, match="start: expected vectors of dimension 8, got 2"):
        X2Static(vocabulary(3), DIMENSION, "xx", start=WordVectors(("a",), np.ones((1, 2), dtype=np.float32)))
    estimator = X2Static(vocabulary(3), DIMENSION, "xx")
    with pytest.raises(InputError, match="none of the 3 words"):
        estimator.vectors()
    with pytest.raises(InputError, match="dimension 8, got shape"):
        estimator.update(
            Occurrences(torch.zeros(1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64), *torch.ones(2, 1, 5))
        )
    with pytest.raises(InputError, match="expected 'table' of shape"):
        estimator.load_state_dict(X2Static(vocabulary(4), DIMENSION, "xx").state_dict())
