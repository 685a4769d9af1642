"""VecMap in its four modes on planted rotations, and what it says about input it cannot use."""

import numpy as np
import pytest
import torch

from x2s.align import AlignmentFailedError, VecMap, mutual_neighbours, normalise
from x2s.errors import InputError
from x2s.vectors import WordVectors
from x2s.vectors.neighbours import nearest

QUICK = {"stochastic_interval": 5}


def _accuracy(mapped, target):
    found, _ = nearest(mapped.matrix, target.matrix, 1, method="csls")
    return float((found[:, 0] == np.arange(len(mapped))).mean())


def _dictionary(source, target, count):
    return list(zip(source.words[:count], target.words[:count], strict=True))


def test_supervised_orthogonal_recovers_the_planted_rotation(planted):
    source, target, rotation = planted(noise=0.0)
    pairs = _dictionary(source, target, 200)
    mapping = VecMap("supervised", final="orthogonal").fit(source, target, pairs)
    np.testing.assert_allclose(mapping.weights, rotation, atol=1e-4)
    np.testing.assert_allclose(mapping.weights.T @ mapping.weights, np.eye(30), atol=1e-5)


@pytest.mark.parametrize("final", ["advanced", "orthogonal"])
def test_the_hub_stays_bit_identical(planted, final):
    source, target, _ = planted()
    mapping = VecMap("supervised", final=final).fit(source, target, _dictionary(source, target, 100))
    assert np.array_equal(mapping.hub(target).matrix, normalise(target.matrix))


def test_self_learning_grows_a_small_dictionary(planted):
    source, target, _ = planted()
    mapping = VecMap(**QUICK).fit(source, target, _dictionary(source, target, 40))
    assert _accuracy(mapping(source), mapping.hub(target)) > 0.95
    assert mapping.converged
    objectives = [entry["objective"] for entry in mapping.history]
    assert objectives[-1] > objectives[0]
    assert mapping.objective == objectives[-1]


def test_identical_words_are_a_seed(planted):
    source, target, _ = planted()
    words = tuple(t if row < 60 else s for row, (s, t) in enumerate(zip(source.words, target.words, strict=True)))
    source = WordVectors(words, source.matrix, "xx")
    mapping = VecMap("identical", **QUICK).fit(source, target)
    assert _accuracy(mapping(source), mapping.hub(target)) > 0.95


def test_unsupervised_recovers_a_noisy_rotation(planted):
    source, target, _ = planted(words=800, noise=0.2)
    mapping = VecMap("unsupervised", **QUICK).fit(source, target)
    assert _accuracy(mapping(source), mapping.hub(target)) > 0.95


def test_unsupervised_says_that_it_failed(unrelated):
    with pytest.raises(AlignmentFailedError, match=r"no common structure in 2 tries.*seed dictionary"):
        VecMap("unsupervised", restarts=2, stochastic_interval=2).fit(*unrelated)


def test_semi_supervised_without_a_dictionary_takes_mutual_neighbours(planted):
    source, target, rotation = planted()
    shared = target.with_matrix(target.matrix @ rotation.T)
    seed = mutual_neighbours(source, shared)
    assert len(seed) > 500
    assert sum(s[1:] == t[1:] for s, t in seed) > 0.99 * len(seed)
    given, own = VecMap(**QUICK).fit(source, shared, seed), VecMap(**QUICK).fit(source, shared)
    np.testing.assert_array_equal(given.weights, own.weights)


def test_one_seed_one_result(planted):
    source, target, _ = planted(words=300)
    settings = {"stochastic_initial": 0.1, "max_iterations": 12, **QUICK}
    pairs = _dictionary(source, target, 20)
    first, again = (VecMap(seed=3, **settings).fit(source, target, pairs) for _ in range(2))
    np.testing.assert_array_equal(first.weights, again.weights)
    assert [e["objective"] for e in first.history] == [e["objective"] for e in again.history]
    other = VecMap(seed=4, **settings).fit(source, target, pairs)
    assert [e["objective"] for e in other.history] != [e["objective"] for e in first.history]


def test_the_number_of_threads_hardly_matters(planted):
    source, target, _ = planted(words=300)
    pairs = _dictionary(source, target, 40)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = VecMap(**QUICK).fit(source, target, pairs)
        torch.set_num_threads(2)
        two = VecMap(**QUICK).fit(source, target, pairs)
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_allclose(one.weights, two.weights, atol=1e-4)


@pytest.mark.parametrize("mode", ["supervised", "semi_supervised"])
def test_fewer_pairs_than_dimensions(planted, mode):
    source, target, _ = planted()
    mapping = VecMap(mode, **QUICK).fit(source, target, _dictionary(source, target, 5))
    assert np.isfinite(mapping(source).matrix).all()


def test_one_pair_of_words_is_no_crash(planted):
    source, target, _ = planted()
    mapping = VecMap(**QUICK).fit(source.take(1), target.take(1), _dictionary(source, target, 1))
    assert np.isfinite(mapping(source.take(1)).matrix).all()


def test_two_sided_moves_both(planted):
    source, target, _ = planted()
    pairs = _dictionary(source, target, 200)
    mapping = VecMap("supervised", hub="two_sided").fit(source, target, pairs)
    assert mapping.hub_weights is not None
    assert _accuracy(mapping(source), mapping.hub(target)) > 0.95


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_one_direction_proposes_one_pair_per_word(planted, direction):
    source, target, _ = planted()
    mapping = VecMap(direction=direction, **QUICK).fit(source.take(500), target, _dictionary(source, target, 40))
    assert mapping.pairs == (500 if direction == "forward" else 600)


def test_iterations_can_be_limited(planted):
    source, target, _ = planted()
    mapping = VecMap(max_iterations=1).fit(source, target, _dictionary(source, target, 40))
    assert len(mapping.history) == 1
    assert not mapping.converged


def test_unequal_dimensions_name_both(planted):
    source, target, _ = planted()
    with pytest.raises(InputError, match=r"xx vectors have 30 dimensions and the en vectors 7"):
        VecMap().fit(source, target.with_matrix(target.matrix[:, :7]))


def test_a_dictionary_without_known_words_counts_them(planted):
    source, target, _ = planted()
    with pytest.raises(InputError, match=r"none of its 2 pairs .*\(1 source words and 0 target words .* 600 and 600"):
        VecMap().fit(source, target, [(source.words[0], "?"), ("?", "!")])


def test_supervised_needs_a_dictionary(planted):
    source, target, _ = planted()
    with pytest.raises(InputError, match="needs a dictionary"):
        VecMap("supervised").fit(source, target)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mode": "magic"}, "mode: expected 'semi_supervised'"),
        ({"stochastic_initial": 0.0}, "stochastic_initial"),
        ({"stochastic_multiplier": 1.0}, "stochastic_multiplier"),
        ({"vocabulary_cutoff": 0}, "vocabulary_cutoff"),
        ({"ridge": -1.0}, "ridge"),
        ({"target_reweight": 0.5}, "leaves the target alone"),
        ({"target_dewhiten": None}, "leaves the target alone"),
        ({"hub": "two_sided", "final": "orthogonal"}, "final"),
    ],
)
def test_settings_are_checked_before_any_work(settings, message):
    with pytest.raises(InputError, match=message):
        VecMap(**settings)


def test_only_a_rotation_can_be_anchored():
    with pytest.raises(InputError, match="anchor"):
        VecMap(anchor=0.3)
    assert VecMap(anchor=0.3, final="orthogonal").anchor == 0.3
