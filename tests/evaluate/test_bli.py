import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from x2s.errors import InputError
from x2s.evaluate import Lexicon, evaluate_bli, read_lexicon, translate
from x2s.vectors import WordVectors


def vectors(words, matrix, language=None) -> WordVectors:
    return WordVectors(tuple(words), np.asarray(matrix, dtype=np.float32), language)


def lexicon(*pairs, source="de", target="en") -> Lexicon:
    return Lexicon(source, target, pairs, "test", "sha256:0")


def scores(source, target, pairs, **options) -> dict[str, float]:
    records = evaluate_bli(source, target, pairs, method_name="m", model="t", **options)
    return {record.metric: record.value for record in records}


def numpy_accuracy(source, target, pairs, k, csls_k=None) -> tuple[float, int]:
    """MUSE's measure out of its paper and documentation, all pairs at once in float64.

    Pairs with an absent word are dropped; a source word is right if any of its translations is among the k best; the
    denominator is the number of source words left.
    """
    known = [(a, b) for a, b in pairs if a in source and b in target]
    x, y = (side.matrix.astype(np.float64) for side in (source, target))
    similarity = (x / np.linalg.norm(x, axis=1, keepdims=True)) @ (y / np.linalg.norm(y, axis=1, keepdims=True)).T
    if csls_k:
        r_source = np.sort(similarity, axis=1)[:, -csls_k:].mean(axis=1)
        r_target = np.sort(similarity, axis=0)[-csls_k:].mean(axis=0)
        similarity = 2 * similarity - r_source[:, None] - r_target
    right: dict[str, bool] = {}
    for a, b in known:
        best = np.argsort(-similarity[source.row(a)])[:k]
        right[a] = right.get(a, False) or target.row(b) in best
    return sum(right.values()) / len(right), len(right)


def random_pair(seed: int, n: int = 120, m: int = 150, d: int = 10):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, d))
    y = np.vstack([x[: n // 2] + 0.8 * generator.normal(size=(n // 2, d)), generator.normal(size=(m - n // 2, d))])
    return vectors([f"s{i}" for i in range(n)], x, "de"), vectors([f"t{i}" for i in range(m)], y, "en")


@pytest.mark.parametrize("seed", range(5))
def test_equals_an_independent_implementation(seed):
    source, target = random_pair(seed)
    generator = np.random.default_rng(seed)
    pairs = [(f"s{i}", f"t{j}") for i in range(70) for j in {i, int(generator.integers(200))}]
    pairs += [("absent", "t1"), ("s3", "absent")]
    records = evaluate_bli(source, target, lexicon(*pairs), method_name="m", model="t")
    for record in records:
        k, way = record.metric.removeprefix("precision@").split("/")
        accuracy, items = numpy_accuracy(source, target, pairs, int(k), 10 if way == "csls" else None)
        assert (record.value, record.items) == (pytest.approx(accuracy), items)
    assert [record.metric for record in records[:3]] == ["precision@1/csls", "precision@5/csls", "precision@10/csls"]
    assert records[0].value != records[3].value or records[1].value != records[4].value


def test_the_three_numbers():
    source = vectors(["a", "b", "c"], np.eye(3), "de")
    target = vectors(["x", "y", "z"], np.eye(3), "en")
    pairs = lexicon(("a", "x"), ("a", "absent"), ("b", "z"), ("c", "absent"), ("absent", "x"))
    (record,) = evaluate_bli(source, target, pairs, method_name="m", model="t", retrieval=["nn"], ks=[1], seed=3)
    assert record.value == 1 / 2
    assert record.coverage == 2 / 4
    assert record.items == 2
    assert record.details["accuracy_oov_wrong"] == 1 / 4
    assert record.details["source_words"] == 4
    assert (record.languages, record.model, record.method, record.seed) == (("de", "en"), "t", "m", 3)
    assert (record.task, record.data, record.data_revision) == ("bli", "test", "sha256:0")


def test_any_listed_translation_counts():
    source = vectors(["a"], [[1, 0]], "de")
    target = vectors(["x", "y"], np.eye(2), "en")
    assert scores(source, target, lexicon(("a", "y"), ("a", "x")), retrieval=["nn"], ks=[1]) == {"precision@1/nn": 1}


def test_case_is_folded_only_where_the_vectors_are():
    pairs = lexicon(("Haus", "House"))
    lower = vectors(["haus"], [[1, 0]], "de")
    cased = vectors(["House", "house"], np.eye(2), "en")
    assert scores(lower, cased, pairs, retrieval=["nn"], ks=[1]) == {"precision@1/nn": 1}
    with pytest.raises(InputError, match="none has vectors"):
        scores(vectors(["haus", "Baum"], np.eye(2), "de"), cased, pairs)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_invariant_under_a_joint_rotation(seed):
    source, target = random_pair(seed)
    rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=(10, 10)))[0]
    pairs = lexicon(*((f"s{i}", f"t{i}") for i in range(60)))
    before = scores(source, target, pairs)
    after = scores(source.with_matrix(source.matrix @ rotation), target.with_matrix(target.matrix @ rotation), pairs)
    assert before == after


def test_means_are_over_all_source_words():
    """Scoring a part of a lexicon asks the same of each word as scoring the whole."""
    source, target = random_pair(1)
    pairs = [(f"s{i}", f"t{i}") for i in range(60)]
    whole = scores(source, target, lexicon(*pairs), retrieval=["csls"], ks=[1])
    parts = [scores(source, target, lexicon(pair), retrieval=["csls"], ks=[1]) for pair in pairs]
    assert np.mean([part["precision@1/csls"] for part in parts]) == pytest.approx(whole["precision@1/csls"])


def test_wrong_input():
    source, target = random_pair(0)
    with pytest.raises(InputError, match="one dimension, got 10 and 2"):
        scores(source, vectors(["t1"], [[1, 0]], "en"), lexicon(("s1", "t1")))
    pairs = lexicon(("u1", "v1"), ("u2", "v2"), ("u3", "v3"), ("u4", "v4"))
    with pytest.raises(InputError, match=r"of its 4 pairs, none .*u1 - v1, u2 - v2, u3 - v3") as caught:
        scores(source, target, pairs)
    assert "u4" not in str(caught.value)
    with pytest.raises(InputError, match=r"language 'de', but test is for 'fi'.*reversed"):
        scores(source, target, lexicon(("s1", "t1"), source="fi"))
    with pytest.raises(InputError, match="'csls' or 'nn'"):
        scores(source, target, lexicon(("s1", "t1")), retrieval=["cosine"])


def test_translate():
    source, target = random_pair(0)
    found = translate("s0", source, target, k=3)
    assert len(found) == 3
    assert found[0][1] >= found[1][1] >= found[2][1]
    by_cosine = translate("S0", source, target, k=400, method="nn")
    assert len(by_cosine) == len(target)
    cosine = source["s0"] @ target[by_cosine[0][0]]
    cosine /= np.linalg.norm(source["s0"]) * np.linalg.norm(target[by_cosine[0][0]])
    assert by_cosine[0][1] == pytest.approx(cosine, abs=1e-6)
    with pytest.raises(InputError, match="not among the 120 words"):
        translate("absent", source, target)
    with pytest.raises(InputError, match="one dimension"):
        translate("s0", source, vectors(["t"], [[1]]))


@pytest.mark.data
@pytest.mark.parametrize(("source", "target"), [("de", "en"), ("en", "fi"), ("ru", "en")])
def test_real_lexicons_score_as_in_the_independent_implementation(x2s_data, source, target):
    """No published vectors are within reach; so noise is, at the sizes and with the lexicons of the real thing."""
    pairs = read_lexicon(x2s_data / "bli" / "muse" / f"{source}-{target}.5000-6500.txt", "muse", source, target)
    generator = np.random.default_rng(0)
    words = list(dict.fromkeys(a for a, _ in pairs.pairs))[:1000]
    others = list(dict.fromkeys(b for _, b in pairs.pairs))[:1100]
    y = generator.normal(size=(len(others), 20))
    first = pairs.translations()
    place = {word: row for row, word in enumerate(others)}
    x = np.array([y[place.get(first[word][0], 0)] + 0.7 * generator.normal(size=20) for word in words])
    left, right = vectors(words, x, source), vectors(others, y, target)
    for record in evaluate_bli(left, right, pairs, method_name="m", model="t", ks=(1, 10)):
        k, way = record.metric.removeprefix("precision@").split("/")
        accuracy, items = numpy_accuracy(left, right, pairs.pairs, int(k), 10 if way == "csls" else None)
        assert (record.value, record.items) == (pytest.approx(accuracy), items)
        assert 0.1 < record.value < 0.999
        assert record.coverage == pytest.approx(items / 1500)
