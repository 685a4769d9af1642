"""Selection chooses by words that the map was not fitted to."""

import json

import numpy as np
import pytest
import torch

from x2s.align import VecMap, normalise, select
from x2s.align.evidence import generalisation
from x2s.align.unsupervised_start import unsupervised_start
from x2s.errors import InputError
from x2s.vectors.neighbours import nearest


def _normalised(vectors):
    return vectors.with_matrix(normalise(vectors.matrix))


def _rotated(vectors, rotation, share):
    """`vectors` on the way to `rotation`: 0 stays, 1 is rotated in full."""
    u, _, vt = np.linalg.svd((1 - share) * np.eye(len(rotation)) + share * rotation)
    return vectors.with_matrix((vectors.matrix @ (u @ vt)).astype(np.float32))


def _accuracy(source, target):
    found, _ = nearest(source.matrix, target.matrix, 1, method="csls")
    return float((found[:, 0] == np.arange(len(source))).mean())


@pytest.mark.parametrize("final", ["advanced", "orthogonal"])
def test_a_language_off_its_place_is_aligned(planted, final):
    source, target, rotation = planted(words=1200, noise=0.8)
    near = _rotated(target, rotation.T, 0.5)
    mapping = VecMap(final=final, stochastic_interval=5).fit(source, near)
    selection = select(_normalised(source), mapping(source), mapping.hub(near))
    assert _accuracy(_normalised(source), mapping.hub(near)) < 0.3
    assert _accuracy(mapping(source), mapping.hub(near)) > 0.8
    assert selection.choice == "aligned"
    assert selection.held_out.mean_csls > selection.unaligned.mean_csls
    assert selection.unaligned.words == 1200


@pytest.mark.parametrize("final", ["advanced", "orthogonal"])
def test_a_language_in_place_is_not_spoilt(planted, final):
    """Few words in many dimensions: self-learning fits them and no others."""
    source, target, rotation = planted(words=250, dimension=100, noise=1.2)
    there = target.with_matrix(target.matrix @ rotation.T)
    mapping = VecMap(final=final, stochastic_interval=5).fit(source, there)
    selection = select(_normalised(source), mapping(source), mapping.hub(there))
    assert selection.choice == "unaligned"
    assert selection.aligned.mean_csls > selection.unaligned.mean_csls, "the fitted words themselves would be fooled"


def test_a_wrong_map_is_not_chosen(planted):
    source, target, rotation = planted(words=400)
    there = target.with_matrix(target.matrix @ rotation.T)
    wrong = source.with_matrix(normalise(source.matrix) @ rotation.astype(np.float32))
    assert select(_normalised(source), wrong, _normalised(there)).choice == "unaligned"


def test_the_evidence_is_written_as_json(planted):
    source, target, _ = planted(words=200)
    selection = select(_normalised(source), _normalised(source), _normalised(target))
    written = json.loads(selection.to_json())
    assert written["choice"] == selection.choice
    assert written["held_out"]["mutual_share"] == selection.held_out.mutual_share
    assert set(written) == {"choice", "unaligned", "held_out", "aligned", "final", "margin"}


def test_other_words_are_refused(planted):
    source, target, _ = planted(words=200)
    with pytest.raises(InputError, match="same words in the same order"):
        select(_normalised(source), _normalised(source).take(100), _normalised(target))


def test_only_a_true_map_generalises(planted, unrelated):
    def over(source, target, pairs):
        sides = [torch.from_numpy(normalise(side.matrix)) for side in (source, target)]
        return generalisation(*sides, pairs or unsupervised_start(*sides)).over_chance

    source, target, _ = planted(words=400)
    rows = torch.arange(400)
    assert over(source, target, (rows, rows)) > 3
    assert over(*unrelated, None) < 1.5
