"""Tables of the page, generated from records: a `Table` is what one HTML table shows, ready to print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from x2s.errors import InputError
from x2s.languages import get_language
from x2s.report.data import CorpusSummary, SelectionSummary, StageRun

_STAGE_ORDER = ("teacher", "corpus", "static", "align", "evaluate", "report")


@dataclass(frozen=True)
class Column:
    """A column: its heading, the heading above it that neighbouring columns share, and how to align it."""

    label: str
    group: str = ""
    numeric: bool = True
    hint: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell: what it says, what it sorts by (default: the text), and how it stands out."""

    text: str
    value: float | None = None
    best: bool = False
    language: str = ""
    share: float | None = None
    """Length of a bar behind the text, in [0, 1]."""


@dataclass(frozen=True)
class Table:
    """Rows of cells under columns; `footer` rows stay below when the reader sorts."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    footer: Sequence[Sequence[Cell]] = ()
    title: str = ""

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Runs of equal group headings as (heading, number of columns); empty if there is none."""
        runs: list[tuple[str, int]] = []
        for column in self.columns:
            if runs and runs[-1][0] == column.group:
                runs[-1] = (column.group, runs[-1][1] + 1)
            else:
                runs.append((column.group, 1))
        return runs if any(group for group, _ in runs) else []


def language_name(code: str | None) -> str:
    """English name of a language code; the code itself where no name is known."""
    if not code:
        return "all languages"
    try:
        return get_language(code).name
    except InputError:
        return code


def percent(value: float | None) -> Cell:
    """A fraction as a percentage with one decimal, or a dash."""
    return Cell("–") if value is None else Cell(f"{100 * value:.1f}", value)


def count(value: int | None) -> Cell:
    """A whole number with thousands separated, or a dash."""
    return Cell("–") if value is None else Cell(f"{value:,}", value)


def duration(seconds: float) -> str:
    """Time in the two largest fitting units, e.g. `4 min 05 s`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def memory(size: int | None) -> Cell:
    """Bytes in MB or GB (powers of 1000), or a dash where not measured."""
    if size is None:
        return Cell("–")
    return Cell(f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB", size)


def readable(name: str) -> str:
    """A field name as words."""
    return name.replace("_", " ")


def selection_table(selections: Sequence[SelectionSummary]) -> Table:
    """Choice and evidence per language; evidence that is not a plain value is left to the files."""
    names = list(dict.fromkeys(name for item in selections for name, v in item.evidence.items() if _plain(v)))
    columns = [Column("language", numeric=False), Column("method", numeric=False), Column("kept", numeric=False)]
    columns += [Column(readable(name)) for name in names]
    rows = [
        [
            Cell(language_name(item.language), language=item.language),
            Cell(readable(item.method)),
            Cell(item.choice, best=item.choice == "aligned"),
            *(_evidence(item.evidence.get(name)) for name in names),
        ]
        for item in selections
    ]
    return Table(columns, rows)


def _plain(value: Any) -> bool:
    return isinstance(value, (int, float, str)) or value is None


def _evidence(value: Any) -> Cell:
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return Cell(f"{value:.3f}", value)
    return Cell(value if isinstance(value, str) else "–")


def corpus_table(corpora: Mapping[str, CorpusSummary]) -> Table:
    """Sizes per language, and what each filter removed."""
    omitted = _reasons(corpus.left_out for corpus in corpora.values())
    reasons = _reasons(corpus.dropped for corpus in corpora.values())
    columns = [
        Column("language", numeric=False),
        *(Column(readable(reason), group="paragraphs left out") for reason in omitted),
        Column("paragraphs", group="read"),
        Column("sentences", group="read"),
        *(Column(readable(reason), group="sentences dropped") for reason in reasons),
        Column("sentences", group="kept"),
        Column("tokens", group="kept"),
        Column("words", group="vocabulary"),
        Column("% of tokens", group="vocabulary", hint="Share of the kept tokens that are in the vocabulary"),
    ]
    most = max((corpus.sentences for corpus in corpora.values()), default=0) or 1
    rows = [
        [
            Cell(language_name(code), language=code),
            *(count(corpus.left_out.get(reason, 0)) for reason in omitted),
            count(corpus.paragraphs_read),
            count(corpus.sentences_read or None),
            *(count(corpus.dropped.get(reason, 0)) for reason in reasons),
            Cell(f"{corpus.sentences:,}", corpus.sentences, share=corpus.sentences / most),
            count(corpus.tokens),
            count(corpus.vocabulary_size),
            percent(corpus.vocabulary_coverage),
        ]
        for code, corpus in corpora.items()
    ]
    return Table(columns, rows)


def _reasons(counts: Iterable[Mapping[str, int]]) -> list[str]:
    """Names with a number above zero anywhere, in order of appearance."""
    return list(dict.fromkeys(name for found in counts for name, number in found.items() if number))


def source_table(corpora: Mapping[str, CorpusSummary]) -> Table:
    """Where each text comes from and what cut it up."""
    labels = ("language", "source", "revision", "licence", "sentences by", "tokens by")
    rows = [
        [
            Cell(language_name(code), language=code),
            Cell(corpus.source or "–"),
            Cell(corpus.revision or "–"),
            Cell(corpus.licence or "–"),
            Cell(corpus.tools.get("segmenter", "–")),
            Cell(corpus.tools.get("tokenizer", "–")),
        ]
        for code, corpus in corpora.items()
    ]
    return Table([Column(label, numeric=False) for label in labels], rows)


def stage_table(stages: Sequence[StageRun]) -> Table:
    """Time and memory per stage and language, in the order of the job."""
    place = {name: position for position, name in enumerate(_STAGE_ORDER)}
    longest = max((stage.seconds for stage in stages), default=0.0) or 1.0
    columns = [
        Column("stage", numeric=False),
        Column("language", numeric=False),
        Column("time"),
        Column("peak memory"),
        Column("finished", numeric=False),
    ]
    rows = [
        [
            Cell(readable(stage.stage)),
            Cell(language_name(stage.language), language=stage.language or ""),
            Cell(duration(stage.seconds), stage.seconds, share=stage.seconds / longest),
            memory(stage.peak_memory_bytes),
            Cell(stage.finished.replace("T", " ")[:16] or "–"),
        ]
        for stage in sorted(stages, key=lambda stage: place.get(stage.stage, len(place)))
    ]
    return Table(columns, rows)


def stage_totals(stages: Sequence[StageRun]) -> list[tuple[str, float, int | None]]:
    """(stage, sum of seconds over languages, largest peak memory) in the order of the job."""
    place = {name: position for position, name in enumerate(_STAGE_ORDER)}
    names = sorted(dict.fromkeys(stage.stage for stage in stages), key=lambda name: place.get(name, len(place)))
    totals = []
    for name in names:
        own = [stage for stage in stages if stage.stage == name]
        peaks = [stage.peak_memory_bytes for stage in own if stage.peak_memory_bytes is not None]
        totals.append((name, sum(stage.seconds for stage in own), max(peaks, default=None)))
    return totals
