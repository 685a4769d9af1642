"""Alignment: many languages' vectors into the space of one hub language."""

from x2s.align.dictionaries import dictionary_rows, identical_words, mutual_neighbours
from x2s.align.evidence import Agreement
from x2s.align.many import align_all
from x2s.align.mapping import Mapping
from x2s.align.selection import Selection, select
from x2s.align.vecmap import AlignmentFailedError, VecMap
from x2s.vectors.normalisation import normalise

__all__ = [
    "Agreement",
    "AlignmentFailedError",
    "Mapping",
    "Selection",
    "VecMap",
    "align_all",
    "dictionary_rows",
    "identical_words",
    "mutual_neighbours",
    "normalise",
    "select",
]
