"""Length normalisation and centring, the first step of every alignment."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from x2s.errors import InputError

Step = Literal["unit", "center"]
STEPS: tuple[Step, ...] = ("unit", "center", "unit")


def normalise(matrix: NDArray[np.float32], steps: Sequence[Step] = STEPS) -> NDArray[np.float32]:
    """Apply `steps` in order: "unit" scales every row to length 1, "center" subtracts the mean row.

    Args:
        matrix: [n, d], one row per word. It is not changed. A row of zeros stays a row of zeros under "unit".
        steps: Default unit, center, unit (Artetxe et al. 2018a), which the project calls "unaligned" vectors.

    Returns:
        [n, d] float32.

    Raises:
        InputError: An unknown step, a matrix that is not two-dimensional, or one that holds NaN or infinity.
    """
    return normalise_with_means(matrix, steps)[0]


def normalise_with_means(
    matrix: NDArray[np.float32], steps: Sequence[Step] = STEPS, means: NDArray[np.float32] | None = None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Normalise, and tell or reuse the means that the "center" steps subtract.

    Args:
        matrix: [n, d].
        steps: As for `normalise`.
        means: [number of "center" steps, d], taken from an earlier call; None computes them from `matrix`.

    Returns:
        The normalised matrix [n, d] float32 and the means [number of "center" steps, d] float32.
    """
    rows = _checked(matrix)
    found: list[NDArray[np.float32]] = []
    for step in steps:
        if step == "unit":
            lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))
            lengths[lengths == 0] = 1.0
            rows = (rows / lengths[:, None].astype(np.float32)).astype(np.float32, copy=False)
        elif step == "center":
            mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32) if means is None else means[len(found)]
            found.append(mean)
            rows = rows - mean
        else:
            raise InputError(f"normalise_steps: expected 'unit' or 'center', got {step!r}")
    return rows, np.stack(found) if found else np.zeros((0, rows.shape[1]), np.float32)


def _checked(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    rows = np.array(matrix, dtype=np.float32)
    if rows.ndim != 2 or not rows.shape[0] or not rows.shape[1]:
        raise InputError(f"vectors: expected a matrix of words by dimensions, got the shape {rows.shape}")
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        bad = np.flatnonzero(~finite)
        raise InputError(
            f"vectors: {len(bad)} of {len(rows)} rows hold NaN or infinity, the first is row {bad[0]}. "
            "Remove these words, or load the file again."
        )
    return rows
