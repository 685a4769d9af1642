"""Alignment: many languages' vectors into the space of one hub language."""

from x2s.align.dictionaries import dictionary_rows, identical_words, mutual_neighbours
from x2s.align.mapping import Mapping
from x2s.align.preprocessing import normalise
from x2s.align.vecmap import AlignmentFailedError, VecMap

__all__ = [
    "AlignmentFailedError",
    "Mapping",
    "VecMap",
    "dictionary_rows",
    "identical_words",
    "mutual_neighbours",
    "normalise",
]
