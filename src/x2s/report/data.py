"""RunData: everything the page shows, as plain frozen values.

The pipeline fills it from the artefacts of a run; this room never looks for files. Every part may be
missing (an empty tuple or mapping): the page then says which command would make it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from x2s.scores import ScoreRecord

if TYPE_CHECKING:
    from x2s.vectors import WordVectors


@dataclass(frozen=True)
class StageRun:
    """One stage of one language, as its manifest tells it."""

    stage: str
    """Name of the stage: teacher, corpus, static, align, evaluate, report."""
    language: str | None
    """Language code; None for a stage that serves all languages."""
    seconds: float
    """Wall-clock time."""
    peak_memory_bytes: int | None = None
    """Largest resident memory of the stage; None where it was not measured."""
    finished: str = ""
    """When it ended, ISO 8601 with time zone; empty if unknown."""
    outputs: tuple[str, ...] = ()
    """Paths relative to the output folder."""


@dataclass(frozen=True)
class CorpusSummary:
    """What was read for one language, and what was left of it."""

    sentences: int
    """Sentences kept."""
    tokens: int
    """Tokens in the kept sentences."""
    vocabulary_size: int
    """Words that got a vector."""
    vocabulary_coverage: float
    """Share of the kept tokens that are in the vocabulary, in [0, 1]."""
    paragraphs_read: int = 0
    """Paragraphs taken from the source."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Paragraphs that the source itself left out, by reason."""
    sentences_read: int = 0
    """Sentences before the filters."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """How many sentences each filter removed, by its name."""
    source: str = ""
    """Name of the source."""
    revision: str = ""
    """Version or checksum of the source."""
    licence: str = ""
    """Licence of the text."""
    tools: Mapping[str, str] = field(default_factory=dict)
    """What cut the text: "segmenter" and "tokenizer"."""


@dataclass(frozen=True)
class SelectionSummary:
    """Whether a language keeps its aligned or its unaligned vectors, and why."""

    language: str
    """Language code."""
    method: str
    """Static method that the decision is about, e.g. combined."""
    choice: str
    """"aligned" or "unaligned"."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """The numbers the decision rests on, by name."""


@dataclass(frozen=True)
class RunData:
    """One run of the main job."""

    title: str
    """Heading of the page."""
    created: str = ""
    """When the page was made, ISO 8601; empty leaves it out, so that two pages of one run are equal."""
    config_yaml: str = ""
    """The configuration of the run as text."""
    version: str = ""
    """Version of x2s."""
    languages: tuple[str, ...] = ()
    """Language codes in the order to show, the hub included."""
    hub: str = "en"
    """The language whose space is the common one."""
    teacher: str = ""
    """Name of the encoder and the layer read."""
    stages: Sequence[StageRun] = ()
    """Stages in order of completion."""
    corpora: Mapping[str, CorpusSummary] = field(default_factory=dict)
    """By language code."""
    scores: Sequence[ScoreRecord] = ()
    """All scores of the run; task "bli" fills the translation tables, other tasks get a plain table."""
    selections: Sequence[SelectionSummary] = ()
    """Decisions of the alignment stage."""
    vectors: Mapping[str, WordVectors] = field(default_factory=dict)
    """Final vectors in the common space, by language code; words by falling count."""
    final_method: str = "combined"
    """Static method of the final vectors; the headline reads its scores."""
    map_pairs: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    """Translation pairs (word, hub word) by language, from which the map chooses; where there are
    none, mutual nearest neighbours are taken."""
    map_pairs_are_neighbours: bool = True
    """True if the pairs were found in the vectors themselves, False if they come from a dictionary: the map says so."""
    search_words: int = 3000
    """Words per language that the search box knows; fewer where the page would grow past about 12 MB."""
