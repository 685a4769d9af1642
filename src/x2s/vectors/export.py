"""Word vectors as objects of other libraries."""

from typing import TYPE_CHECKING, Any

import numpy as np

from x2s.errors import MissingExtraError

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from x2s.vectors.word_vectors import WordVectors


def to_keyed_vectors(vectors: "WordVectors") -> "KeyedVectors":
    """As gensim's `KeyedVectors`, with counts as its "count" attribute.

    Raises:
        MissingExtraError: gensim is not installed.
    """
    try:
        from gensim.models import KeyedVectors
    except ImportError:
        raise MissingExtraError("gensim is needed for this: pip install 'x2s[gensim]'") from None
    keyed = KeyedVectors(vectors.dimension, count=0, dtype=np.float32)
    keyed.add_vectors(list(vectors.words), vectors.matrix)
    if vectors.counts is not None:
        for word, count in zip(vectors.words, vectors.counts.tolist(), strict=True):
            keyed.set_vecattr(word, "count", count)
    return keyed


def parts_of_keyed_vectors(keyed: Any) -> tuple[tuple[str, ...], np.ndarray, np.ndarray | None]:
    """Words, matrix (copied, so that later training does not change ours) and counts of gensim's `KeyedVectors`."""
    words = tuple(keyed.index_to_key)
    matrix = np.array(keyed.vectors[: len(words)], dtype=np.float32)
    counts = keyed.expandos.get("count") if hasattr(keyed, "expandos") else None
    return words, matrix, None if counts is None else np.asarray(counts, dtype=np.int64)[: len(words)]
