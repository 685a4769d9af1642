"""Search data against exact cosines and CSLS; the map's layout."""

import base64

import numpy as np
import pytest

from x2s.report.search import search_data
from x2s.report.wordmap import label_width, tsne, word_map
from x2s.vectors import WordVectors


def clustered(codes: tuple[str, ...], concepts: int, dimension: int, noise: float) -> dict[str, WordVectors]:
    """Languages whose i-th words mean the same: one centre per concept, plus noise."""
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((concepts, dimension))
    names = [f"{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(concepts)]
    return {
        code: WordVectors(
            tuple(f"{code}word{name}" for name in names),
            (centres + noise * rng.standard_normal(centres.shape)).astype(np.float32),
            code,
        )
        for code in codes
    }


def unpacked(data: dict[str, object], place: int) -> np.ndarray:
    language = data["languages"][place]  # type: ignore[index]
    raw = np.frombuffer(base64.b64decode(language["vectors"]), dtype=np.int8)
    return raw.reshape(-1, data["dimension"]).astype(np.float64)  # type: ignore[call-overload]


def unit(matrix: np.ndarray) -> np.ndarray:
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def test_quantised_cosines_are_close() -> None:
    vectors = clustered(("en", "de"), 300, 96, 0.5)
    data = search_data(vectors, {"en": "English", "de": "German"})
    assert data["dimension"] == data["original_dimension"] == 96
    exact = unit(vectors["en"].matrix) @ unit(vectors["de"].matrix).T
    assert np.abs(unit(unpacked(data, 0)) @ unit(unpacked(data, 1)).T - exact).max() < 0.01


def test_hubness_is_the_mean_of_the_ten_nearest() -> None:
    vectors = clustered(("en", "de"), 200, 64, 1.0)
    data = search_data(vectors, {})
    exact = np.sort(unit(vectors["de"].matrix) @ unit(vectors["en"].matrix).T, axis=1)[:, -10:].mean(axis=1)
    stored = np.frombuffer(base64.b64decode(data["languages"][1]["hubness"]), dtype=np.uint8).reshape(2, 200)[0]
    assert stored / 255 == pytest.approx(np.clip(exact, 0, 1), abs=0.01)


def test_budget_cuts_dimensions_before_words() -> None:
    vectors = clustered(("en", "de"), 400, 256, 0.3)
    data = search_data(vectors, {}, budget=2 * 400 * (160 + 2))
    assert (data["dimension"], len(data["languages"][0]["words"])) == (160, 400)
    nearest = (unit(unpacked(data, 0)) @ unit(unpacked(data, 1)).T).argmax(axis=1)
    assert np.mean(nearest == np.arange(400)) > 0.95
    data = search_data(vectors, {}, budget=2 * 100 * (128 + 2))
    assert (data["dimension"], len(data["languages"][0]["words"])) == (128, 100)


def test_map_keeps_labels_apart_and_translations_together() -> None:
    vectors = clustered(("en", "de", "fr", "hi"), 60, 48, 0.25)
    words = word_map(vectors, {}, "en", width=1000, height=640)
    assert {word.language for word in words} == set(vectors)
    assert len(words) >= 80
    for i, a in enumerate(words):
        assert a.x - a.width / 2 >= 0 and a.x + a.width / 2 <= 1000 and 0 <= a.y <= 640
        for b in words[:i]:
            assert abs(a.x - b.x) > (a.width + b.width) / 2 or abs(a.y - b.y) > 13
    centres = {word.concept: np.array([word.x, word.y]) for word in words if word.language == "en"}
    own = [np.linalg.norm(centres[w.concept] - [w.x, w.y]) for w in words if w.language != "en"]
    other = [np.linalg.norm(c - [w.x, w.y]) for w in words for k, c in centres.items() if k != w.concept]
    assert np.mean(own) < 0.3 * np.mean(other)


def test_map_prefers_given_pairs() -> None:
    vectors = clustered(("en", "de"), 30, 48, 0.25)
    pairs = [(vectors["de"].words[(i + 1) % 30], vectors["en"].words[i]) for i in range(30)]
    words = word_map(vectors, {"de": pairs}, "en", width=900, height=600)
    for concept in {word.concept for word in words}:
        names = {word.language: word.word for word in words if word.concept == concept}
        assert names["de"] == vectors["de"].words[(concept + 1) % 30]


@pytest.mark.parametrize("codes", [("en",), ("de", "fr")])
def test_no_map_without_hub_and_another(codes: tuple[str, ...]) -> None:
    assert word_map(clustered(codes, 30, 16, 0.2), {}, "en", width=900, height=600) == []


def test_map_is_deterministic() -> None:
    vectors = clustered(("en", "de", "fr"), 40, 48, 0.25)
    assert word_map(vectors, {}, "en", width=900, height=600) == word_map(vectors, {}, "en", width=900, height=600)


def test_tsne_keeps_clusters() -> None:
    rng = np.random.default_rng(0)
    points = unit(np.repeat(rng.standard_normal((6, 20)), 8, axis=0) + 0.1 * rng.standard_normal((48, 20)))
    place = tsne(points, perplexity=6)
    distance = np.linalg.norm(place[:, None] - place[None], axis=2) + 1e9 * np.eye(48)
    assert np.array_equal(distance.argmin(axis=1) // 8, np.arange(48) // 8)


def test_combining_marks_take_no_width_and_wide_letters_more() -> None:
    assert label_width("e\u0301", 10) == label_width("e", 10)
    assert label_width("語", 10) > label_width("e", 10)
