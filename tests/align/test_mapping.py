"""Mapping: saving, loading, unseen words, wrong vectors."""

import numpy as np
import pytest

from x2s.align import Mapping, VecMap, align_all, normalise
from x2s.errors import FileFormatError, InputError


@pytest.fixture(scope="module")
def fitted(planted):
    source, target, _ = planted(words=200)
    pairs = list(zip(source.words[:50], target.words[:50], strict=True))
    return source, target, VecMap(stochastic_interval=3).fit(source, target, pairs)


def test_save_and_load_keep_everything(fitted, tmp_path):
    source, target, mapping = fitted
    mapping.save(tmp_path / "mapping")
    loaded = Mapping.load(tmp_path / "mapping")
    for name in ("weights", "means"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(mapping, name))
    for name in ("normalise_steps", "source_language", "hub_language", "objective", "pairs", "converged", "settings"):
        assert getattr(loaded, name) == getattr(mapping, name), name
    assert loaded.history == mapping.history
    np.testing.assert_array_equal(loaded(source).matrix, mapping(source).matrix)
    np.testing.assert_array_equal(loaded.hub(target).matrix, normalise(target.matrix))


def test_two_sided_supervised_round_trip(planted, tmp_path):
    source, target, _ = planted(words=200)
    pairs = list(zip(source.words, target.words, strict=True))
    mapping = VecMap("supervised", hub="two_sided").fit(source, target, pairs)
    mapping.save(tmp_path / "mapping")
    loaded = Mapping.load(tmp_path / "mapping")
    np.testing.assert_array_equal(loaded.hub_weights, mapping.hub_weights)
    assert np.isnan(loaded.objective)


def test_unseen_words_are_treated_like_the_language(fitted):
    source, _, mapping = fitted
    np.testing.assert_allclose(mapping(source.take(7)).matrix, mapping(source).matrix[:7], atol=1e-5)


def test_other_vectors_are_refused(fitted):
    source, target, mapping = fitted
    with pytest.raises(InputError, match="takes vectors of 30 dimensions, but the xx vectors have 3"):
        mapping(source.with_matrix(source.matrix[:, :3]))
    with pytest.raises(InputError, match="for xx vectors, but got en"):
        mapping(target)


def test_absent_and_broken_folders(fitted, tmp_path):
    with pytest.raises(InputError, match=r"mapping\.safetensors is absent"):
        Mapping.load(tmp_path)
    fitted[2].save(tmp_path / "mapping")
    (tmp_path / "mapping" / "mapping.json").write_text("{}")
    with pytest.raises(FileFormatError, match=r"mapping\.json.*align again"):
        Mapping.load(tmp_path / "mapping")
    fitted[2].save(tmp_path / "mapping")
    (tmp_path / "mapping" / "mapping.safetensors").write_bytes(b"no")
    with pytest.raises(FileFormatError, match=r"mapping\.safetensors.*align again"):
        Mapping.load(tmp_path / "mapping")


def test_align_all_puts_every_language_into_the_hubs_space(planted):
    one, hub, _ = planted(words=200, seed=0)
    dictionaries = {"xx": list(zip(one.words[:60], hub.words[:60], strict=True))}
    space = align_all({"xx": one, "en": hub}, dictionaries=dictionaries, stochastic_interval=3)
    assert list(space) == ["xx", "en"]
    np.testing.assert_array_equal(space["en"].matrix, normalise(hub.matrix))
    similarity = (space["xx"].matrix * space["en"].matrix).sum(1) / np.linalg.norm(space["xx"].matrix, axis=1)
    assert similarity.mean() > 0.8


def test_align_all_needs_its_hub(planted):
    one, _, _ = planted(words=200)
    with pytest.raises(InputError, match="hub: expected one of xx, got 'en'"):
        align_all({"xx": one})
