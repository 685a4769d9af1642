import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from x2s.errors import FileFormatError, InputError
from x2s.vectors import WordVectors


def some(n: int = 4, d: int = 3, **more) -> WordVectors:
    matrix = np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)
    return WordVectors(tuple(f"w{number}" for number in range(n)), matrix, **more)


def test_look_ups():
    vectors = some(language="de", counts=np.array([9, 5, 2, 1]))
    assert len(vectors) == 4
    assert vectors.dimension == 3
    assert "w2" in vectors
    assert "x" not in vectors
    assert vectors.row("w2") == 2
    assert vectors.rows(["w3", "x", "w0"]).tolist() == [3, -1, 0]
    assert vectors.rows([]).dtype == np.int64
    assert np.array_equal(vectors["w1"], vectors.matrix[1])
    with pytest.raises(KeyError):
        vectors.row("x")


def test_a_right_matrix_is_not_copied_and_stays_the_callers():
    matrix = np.zeros((2, 3), dtype=np.float32)
    vectors = WordVectors(("a", "b"), matrix)
    assert np.shares_memory(vectors.matrix, matrix)
    assert matrix.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        vectors.matrix[0, 0] = 1


@pytest.mark.parametrize(
    ("words", "matrix", "counts", "message"),
    [
        (("a", "a"), np.zeros((2, 3)), None, "'a' is there more than once"),
        (("a",), np.zeros((2, 3)), None, "1 rows"),
        (("a", "b"), np.zeros(2), None, "shape"),
        (("a", "b"), np.array([[0.0, 1.0], [np.nan, 1.0]]), None, r"'b' \(row 1\)"),
        (("a", "b"), np.array([[0.0, np.inf], [0.0, 1.0]]), None, "'a'"),
        (("a", "b"), np.zeros((2, 3)), np.array([1]), "2 counts"),
    ],
)
def test_wrong_parts_are_refused(words, matrix, counts, message):
    with pytest.raises(InputError, match=message):
        WordVectors(words, matrix, counts=counts)


def test_take():
    vectors = some(counts=np.array([9, 5, 2, 1]), language="fi")
    assert vectors.take(2).words == ("w0", "w1")
    assert vectors.take(99).words == vectors.words
    taken = vectors.take([3, 0])
    assert taken.words == ("w3", "w0")
    assert taken.counts.tolist() == [1, 9]
    assert taken.language == "fi"
    assert np.array_equal(taken.matrix, vectors.matrix[[3, 0]])
    with pytest.raises(InputError, match="got -1"):
        vectors.take(vectors.rows(["w1", "absent"]))


def test_with_matrix_keeps_everything_else():
    vectors = some(counts=np.arange(4), language="fi")
    other = vectors.with_matrix(np.ones((4, 7)))
    assert other.dimension == 7
    assert (other.words, other.language, other.counts.tolist()) == (vectors.words, "fi", [0, 1, 2, 3])


WORDS = st.lists(
    st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"]), min_size=0, max_size=6),
    min_size=1,
    max_size=8,
    unique=True,
)


@settings(max_examples=40, deadline=None)
@given(WORDS, st.booleans())
def test_any_code_point_survives_saving(tmp_path_factory, words, counted):
    folder = tmp_path_factory.mktemp("vectors")
    matrix = np.random.default_rng(len(words)).normal(size=(len(words), 2)).astype(np.float32)
    vectors = WordVectors(tuple(words), matrix, "xx", np.arange(len(words)) if counted else None)
    vectors.save(folder / "v")
    loaded = WordVectors.load(folder / "v")
    assert loaded.words == vectors.words
    assert loaded.language == "xx"
    assert np.array_equal(loaded.matrix.view(np.uint32), matrix.view(np.uint32))
    assert (loaded.counts is None) == (not counted)
    if counted:
        assert loaded.counts.tolist() == list(range(len(words)))


@pytest.mark.parametrize("word", ["a\tb", "a\nb", "a\ud800"])
def test_words_that_the_folder_cannot_hold(tmp_path, word):
    WordVectors(("old",), np.ones((1, 1))).save(tmp_path / "v")
    with pytest.raises(InputError, match="cannot be saved"):
        WordVectors((word,), np.ones((1, 1))).save(tmp_path / "v")
    assert WordVectors.load(tmp_path / "v").words == ("old",)


def test_saving_replaces_the_old_folder(tmp_path):
    some(4).save(tmp_path / "v")
    some(2).save(tmp_path / "v")
    assert len(WordVectors.load(tmp_path / "v")) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v"]


def test_the_model_card_tells_language_dimension_and_gensim(tmp_path):
    some(language="de").save(tmp_path / "v")
    card = (tmp_path / "v" / "README.md").read_text()
    assert "language: de" in card
    assert "4 words, 3 dimensions" in card
    assert "gensim" in card


def damaged(folder, name, change):
    path = folder / name
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("model.safetensors", lambda data: data[:-5], "safetensors"),
        ("vocabulary.tsv", lambda data: data[: data.rindex(b"\n", 0, -1) + 1], "expected 4 whole lines"),
        ("vocabulary.tsv", lambda data: data[:-1], "expected 4 whole lines"),
        ("vocabulary.tsv", lambda data: data.replace(b"w1\t1", b"w1 1"), "line 2: expected 'word<TAB>count'"),
        ("vocabulary.tsv", lambda data: data.replace(b"w1", b"w\xff"), "UTF-8"),
        ("config.json", lambda data: data[:-5], "JSON"),
        ("config.json", lambda data: b"[]", "not word vectors"),
        ("config.json", lambda data: data.replace(b'"dimension": 3', b'"dimension": 4'), r"shape \(4, 4\)"),
        ("config.json", lambda data: data.replace(b'"dimension": 3', b'"dimension": "3"'), "'dimension'"),
    ],
)
def test_damaged_folders_are_explained(tmp_path, name, change, message):
    some(counts=np.arange(4)).save(tmp_path)
    damaged(tmp_path, name, change)
    with pytest.raises(FileFormatError, match=message):
        WordVectors.load(tmp_path)


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match="no word vectors there"):
        WordVectors.load(tmp_path / "absent")


def test_the_tensor_file_is_plain_safetensors(tmp_path):
    from safetensors.numpy import load_file

    vectors = some(language="de")
    vectors.save(tmp_path)
    assert np.array_equal(load_file(tmp_path / "model.safetensors")["vectors"], vectors.matrix)
    assert json.loads((tmp_path / "config.json").read_text())["dimension"] == 3
