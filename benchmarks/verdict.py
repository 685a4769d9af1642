"""The last line of every benchmark, and its exit status."""

import sys
from typing import NoReturn


def conclude(name: str, measured: float, required: float, *, at_least: bool = True) -> NoReturn:
    """Print `NAME measured required` and exit 0 only if the requirement holds.

    Args:
        name: The benchmark's module name.
        measured: What this run measured.
        required: The bound it must keep.
        at_least: True if `measured` must be `required` or more, False if `required` or less.
    """
    holds = measured >= required if at_least else measured <= required
    print(f"{name} {measured:.3f} {required:.3f}")
    sys.exit(0 if holds else 1)
