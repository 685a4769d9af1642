import sys

import numpy as np
import pytest

from x2s.errors import MissingExtraError
from x2s.vectors import WordVectors, read_word2vec

WORDS = ("haus", "\u00e4pfel", "\u0928\u092e\u0938\u094d\u0924\u0947", "e\u0301", "\u00a0x", "a\u2028b", 'q"')


@pytest.fixture
def vectors() -> WordVectors:
    matrix = np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32)
    return WordVectors(WORDS, matrix, "de", np.arange(len(WORDS), 0, -1))


@pytest.fixture
def models():
    return pytest.importorskip("gensim.models")


def test_to_and_from_keyed_vectors(vectors, models):
    keyed = vectors.to_keyed_vectors()
    assert isinstance(keyed, models.KeyedVectors)
    assert keyed.get_vecattr("haus", "count") == len(WORDS)
    again = WordVectors.from_keyed_vectors(keyed, "de")
    assert again.words == vectors.words
    assert again.counts.tolist() == vectors.counts.tolist()
    assert np.array_equal(again.matrix, vectors.matrix)
    keyed.vectors[:] = 0
    assert again.matrix.any()
    assert vectors.matrix.any()


def test_keyed_vectors_without_counts(models):
    keyed = models.KeyedVectors(2)
    keyed.add_vectors(["a", "b"], np.eye(2, dtype=np.float32))
    assert WordVectors.from_keyed_vectors(keyed).words == ("a", "b")


@pytest.mark.parametrize("name", ["v.txt", "v.txt.gz"])
@pytest.mark.parametrize("binary", [False, True])
def test_gensim_reads_what_we_write_and_we_what_it_writes(tmp_path, vectors, models, binary, name):
    vectors.to_word2vec(tmp_path / name, binary)
    keyed = models.KeyedVectors.load_word2vec_format(str(tmp_path / name), binary=binary)
    assert tuple(keyed.index_to_key) == vectors.words
    assert np.array_equal(keyed.vectors, vectors.matrix)
    keyed.save_word2vec_format(str(tmp_path / f"theirs-{name}"), binary=binary, sort_attr="none")
    words, matrix = read_word2vec(tmp_path / f"theirs-{name}")
    assert words == vectors.words
    assert np.array_equal(matrix, vectors.matrix)


def test_neighbours_agree_with_gensim(vectors, models):
    from x2s.vectors import nearest

    keyed = vectors.to_keyed_vectors()
    rows, scores = nearest(vectors.matrix[:1], vectors.matrix, 3, exclude=np.array([0]))
    theirs = keyed.most_similar("haus", topn=3)
    assert [vectors.words[row] for row in rows[0]] == [word for word, _ in theirs]
    assert np.allclose(scores[0], [score for _, score in theirs], atol=1e-6)


def test_gensim_absent(vectors, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingExtraError, match=r"x2s\[gensim\]"):
        vectors.to_keyed_vectors()
