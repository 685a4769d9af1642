"""Word vectors: the core noun, its files, its neighbours."""

from x2s.vectors.formats import read_word2vec, write_word2vec
from x2s.vectors.neighbours import mean_similarity, nearest
from x2s.vectors.word_vectors import WordVectors

__all__ = ["WordVectors", "mean_similarity", "nearest", "read_word2vec", "write_word2vec"]
