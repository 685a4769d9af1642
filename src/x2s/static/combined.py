"""Combined: what a word is plus where it occurs."""

import numpy as np
import numpy.typing as npt

from x2s.errors import InputError
from x2s.vectors import WordVectors


def combine(*parts: WordVectors) -> WordVectors:
    """Sum of several vector sets of one language, each normalised to unit length, centred, and again unit length.

        v_w = sum over parts p of unit(unit(p_w) - mean over w' of unit(p_w'))

    The parts then weigh the same whatever their scale. With `aggregated` and `whitened_context` this joins a word's
    own meaning to its contexts. Ours; the normalisation is VecMap's (Artetxe, Labaka and Agirre, AAAI 2018).

    Args:
        parts: At least one, all of one dimension and language. Kept are the words that all parts have, in the
            order of the first; each part is normalised over these.

    Returns:
        [n, d] float32 with the counts of the first part.

    Raises:
        InputError: No part, unequal dimensions or languages, or no word in common.
    """
    if not parts:
        raise InputError("combine: expected at least one set of word vectors, got none")
    first = parts[0]
    for number, part in enumerate(parts[1:], start=2):
        if part.dimension != first.dimension:
            raise InputError(
                f"combine: expected dimension {first.dimension} as in the first part, got {part.dimension} in part "
                f"{number}. A sum needs vectors of one teacher."
            )
        if part.language != first.language:
            raise InputError(
                f"combine: expected language {first.language!r} as in the first part, got {part.language!r} in part "
                f"{number}. Combine the vectors of one language."
            )
    shared = [word for word in first.words if all(word in part for part in parts[1:])]
    if not shared:
        raise InputError("combine: the parts have no word in common. Learn them with one vocabulary.")
    total = sum(unit_centre_unit(part.matrix[part.rows(shared)]) for part in parts)
    return first.take(first.rows(shared)).with_matrix(np.asarray(total, dtype=np.float32))


def unit_centre_unit(matrix: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Rows scaled to unit length, columns centred, rows scaled again ([n, d], float64); zero rows stay zero."""
    rows = _unit(matrix.astype(np.float64))
    return _unit(rows - rows.mean(axis=0))


def _unit(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)
