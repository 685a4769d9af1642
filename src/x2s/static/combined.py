"""Combined: what a word is, and where it occurs."""

from typing import Literal

import numpy as np

from x2s.errors import InputError
from x2s.vectors import WordVectors
from x2s.vectors.normalisation import normalise


def combine(*parts: WordVectors, by: Literal["concatenation", "sum"] = "concatenation") -> WordVectors:
    """Several vector sets of one language as one, each normalised to unit length, centred, and again unit length.

        concatenation:  v_w = [u(p_w)]_p / sqrt(number of parts)    so v_w . v_x = mean over parts of u(p_w) . u(p_x)
        sum:            v_w = sum over p of u(p_w)

    The parts then weigh the same whatever their scale. With `aggregated` and `whitened_context` this joins a word's
    own meaning to its contexts. The sum keeps the teacher's dimension, but its dot products also compare one part's
    coordinates with the other's, which mean something else: docs/experiments.md has what that costs. Ours; the
    normalisation is VecMap's (Artetxe, Labaka and Agirre, AAAI 2018).

    Args:
        parts: At least one, all of one language. Kept are the words that all parts have, in the order of the first;
            each part is normalised over these.
        by: "concatenation", or "sum" for parts of one dimension.

    Returns:
        [n, sum of the dimensions] or [n, d] float32, with the counts of the first part.

    Raises:
        InputError: No part, unequal languages, no word in common, or a sum of unequal dimensions.
    """
    if not parts:
        raise InputError("combine: expected at least one set of word vectors, got none")
    if by not in ("concatenation", "sum"):
        raise InputError(f"combine: expected by='concatenation' or 'sum', got {by!r}")
    first = parts[0]
    for number, part in enumerate(parts[1:], start=2):
        if by == "sum" and part.dimension != first.dimension:
            raise InputError(
                f"combine: expected dimension {first.dimension} as in the first part, got {part.dimension} in part "
                f"{number}. A sum needs vectors of one dimension; by='concatenation' does not."
            )
        if part.language != first.language:
            raise InputError(
                f"combine: expected language {first.language!r} as in the first part, got {part.language!r} in part "
                f"{number}. Combine the vectors of one language."
            )
    shared = [word for word in first.words if all(word in part for part in parts[1:])]
    if not shared:
        raise InputError("combine: the parts have no word in common. Learn them with one vocabulary.")
    normalised = [normalise(part.matrix[part.rows(shared)]) for part in parts]
    joined = np.hstack(normalised) / len(parts) ** 0.5 if by == "concatenation" else np.sum(normalised, axis=0)
    return first.take(first.rows(shared)).with_matrix(joined.astype(np.float32))
