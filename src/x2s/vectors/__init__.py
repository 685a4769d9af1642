"""Word vectors: the core noun, its files, its neighbours."""

from x2s.vectors.word_vectors import WordVectors

__all__ = ["WordVectors"]
