"""Induction in tiles against the whole matrix in float64."""

import numpy as np
import pytest
import torch

from x2s.align import induction as module
from x2s.align.induction import Induction
from x2s.errors import InputError


def _unit(rng, *shape):
    rows = rng.normal(size=shape)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def _expected(x, z, k):
    similarity = x.astype(np.float64) @ z.astype(np.float64).T
    rows = np.sort(similarity, axis=1)[:, ::-1][:, :k].mean(axis=1)
    columns = np.sort(similarity, axis=0)[::-1][:k].mean(axis=0)
    objective = (similarity.max(1).mean() + similarity.max(0).mean()) / 2
    forward, backward = (similarity - columns / 2).argmax(1), (similarity - rows[:, None] / 2).argmax(0)
    return forward, backward, objective, rows, columns


@pytest.mark.parametrize(("n", "m", "d"), [(3, 5, 2), (41, 37, 5), (1280, 1280, 8), (1500, 90, 16), (90, 2600, 16)])
@pytest.mark.parametrize("k", [1, 10])
def test_equals_the_formula(n, m, d, k):
    rng = np.random.default_rng(n)
    x, z = _unit(rng, n, d), _unit(rng, m, d)
    forward, backward, objective, rows, columns = _expected(x, z, k)
    found = Induction(n, m, k)(torch.from_numpy(x), torch.from_numpy(z))
    np.testing.assert_allclose(found.source_means, rows, atol=1e-6)
    np.testing.assert_allclose(found.target_means, columns, atol=1e-6)
    assert found.objective == pytest.approx(objective, abs=1e-6)
    # a tie within float32 may fall either way
    assert (found.forward.numpy() == forward).mean() > 0.995
    assert (found.backward.numpy() == backward).mean() > 0.995


def test_plain_similarity_without_a_neighbourhood():
    rng = np.random.default_rng(0)
    x, z = _unit(rng, 50, 6), _unit(rng, 60, 6)
    found = Induction(50, 60, 0)(torch.from_numpy(x), torch.from_numpy(z))
    np.testing.assert_array_equal(found.forward, (x @ z.T).argmax(1))
    np.testing.assert_array_equal(found.backward, (x @ z.T).argmax(0))


def test_follows_a_permutation_of_the_words():
    rng = np.random.default_rng(1)
    x, z = _unit(rng, 70, 12), _unit(rng, 80, 12)
    order = rng.permutation(80)
    induction = Induction(70, 80, 10)
    straight = induction(torch.from_numpy(x), torch.from_numpy(z)).forward.numpy()
    shuffled = induction(torch.from_numpy(x), torch.from_numpy(z[order])).forward.numpy()
    np.testing.assert_array_equal(order[shuffled], straight)


def test_mutual_pairs_choose_each_other():
    rng = np.random.default_rng(2)
    x, z = _unit(rng, 60, 8), _unit(rng, 60, 8)
    found = Induction(60, 60, 5)(torch.from_numpy(x), torch.from_numpy(z))
    mutual = set(found.mutual().tolist())
    assert mutual == {row for row in range(60) if found.backward[found.forward[row]] == row}


def test_the_best_survives_with_the_keep_probability():
    rng = np.random.default_rng(3)
    x, z = _unit(rng, 1500, 16), _unit(rng, 1400, 16)
    induction = Induction(1500, 1400, 10)
    whole = induction(torch.from_numpy(x), torch.from_numpy(z))
    generator = torch.Generator().manual_seed(0)
    for keep in (0.1, 0.5):
        some = induction(torch.from_numpy(x), torch.from_numpy(z), keep, generator)
        for name in ("forward", "backward"):
            kept = (getattr(some, name) == getattr(whole, name)).double().mean()
            assert float(kept) == pytest.approx(keep, abs=0.05)
        assert some.objective == whole.objective


def test_dropped_words_propose_nothing_and_no_padding_is_chosen():
    rng = np.random.default_rng(4)
    x, z = _unit(rng, 50, 3), _unit(rng, 3, 3)
    induction = Induction(50, 3, 10)
    found = induction(torch.from_numpy(x), torch.from_numpy(z), 0.1, torch.Generator().manual_seed(1))
    assert found.forward.min() == -1
    assert found.forward.max() < 3
    assert found.backward.max() < 50


def test_says_that_memory_would_not_do(monkeypatch):
    monkeypatch.setattr(module, "_MOST_BYTES", 1000)
    with pytest.raises(InputError, match="vocabulary_cutoff: the similarities of 100 x 100 words"):
        Induction(100, 100)
