"""Tables of the page, generated from records: a `Table` is what one HTML table shows, ready to print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from x2s.errors import InputError
from x2s.languages import get_language
from x2s.report.data import CorpusSummary, RunData, SelectionSummary, StageRun
from x2s.scores import ScoreRecord

HEADLINE_METRIC = "precision@1/csls"
VARIANTS = ("unaligned", "aligned", "selected")
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


# --- translation scores ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Score:
    """Mean over the records (seeds) of one method, variant, direction and test set."""

    value: float
    coverage: float
    items: int
    oov_wrong: float | None


class BliScores:
    """Look-up of translation scores by (method, variant, source, target) for one test set and metric.

    The test set is part of the key as its family: the name without language codes, so that `muse-de-en` and
    `muse-en-fr` share a table.
    """

    def __init__(self, records: Iterable[ScoreRecord], metric: str = HEADLINE_METRIC) -> None:
        grouped: dict[tuple[str, str, str, str, str], list[ScoreRecord]] = {}
        for record in records:
            if record.task == "bli" and record.metric == metric and len(record.languages) == 2:
                method, _, variant = record.method.rpartition("/")
                key = (data_family(record), method or variant, variant if method else "", *record.languages)
                grouped.setdefault(key, []).append(record)
        self._scores = {key: _mean(found) for key, found in grouped.items()}
        self.families = tuple(dict.fromkeys(key[0] for key in self._scores))
        self.methods = tuple(dict.fromkeys(key[1] for key in self._scores))

    def __bool__(self) -> bool:
        return bool(self._scores)

    def get(self, family: str, method: str, variant: str, source: str, target: str) -> Score | None:
        """The score, or None if it was not computed."""
        return self._scores.get((family, method, variant, source, target))

    def final(self, family: str, method: str, source: str, target: str) -> Score | None:
        """Score of what the run delivers: the selected variant, or aligned, or the only one there is."""
        for variant in ("selected", "aligned", "unaligned", ""):
            found = self.get(family, method, variant, source, target)
            if found:
                return found
        return None

    def directions(self, family: str) -> list[tuple[str, str]]:
        """All (source, target) of a family in order of appearance."""
        return list(dict.fromkeys((key[3], key[4]) for key in self._scores if key[0] == family))

    def variants(self, family: str, method: str) -> list[str]:
        """Variants that a method was scored in, in the usual order."""
        found = {key[2] for key in self._scores if key[0] == family and key[1] == method}
        return [variant for variant in VARIANTS if variant in found] + sorted(found - set(VARIANTS))


def data_family(record: ScoreRecord) -> str:
    """Name of the test set without the language codes of the record, e.g. `muse-de-en` -> `muse`."""
    name = record.data
    for joint in ("-", "_", "–", " ", "/", "→", "->", ":"):
        for pair in (record.languages, record.languages[::-1]):
            name = name.replace(joint.join(pair), "")
    return name.strip(" -_./:,()") or record.data


def _mean(records: Sequence[ScoreRecord]) -> Score:
    wrong = [record.details["accuracy_oov_wrong"] for record in records if "accuracy_oov_wrong" in record.details]
    return Score(
        value=sum(record.value for record in records) / len(records),
        coverage=sum(record.coverage for record in records) / len(records),
        items=records[0].items,
        oov_wrong=sum(wrong) / len(wrong) if wrong else None,
    )


def bli_tables(run: RunData, scores: BliScores) -> list[Table]:
    """One table per test set: directions down, static methods and variants across, best of each row marked."""
    return [_bli_table(run, scores, family) for family in scores.families]


def _bli_table(run: RunData, scores: BliScores, family: str) -> Table:
    methods = [(method, variant) for method in scores.methods for variant in scores.variants(family, method)]
    final = run.final_method if run.final_method in scores.methods else scores.methods[-1]
    columns = [
        Column("language", numeric=False),
        Column("direction", numeric=False),
        *(Column(variant or "score", group=readable(method)) for method, variant in methods),
        Column("coverage", hint="Share of the test words that are in the vocabulary, with a translation that is too"),
        Column("missing = wrong", hint=f"{readable(final)} with every uncovered test word counted as wrong"),
        Column("words", hint="Test words scored"),
    ]
    rows: list[list[Cell]] = []
    values: list[list[float | None]] = []
    directions = _ordered(run, scores.directions(family))
    for source, target in directions:
        found = [scores.get(family, method, variant, source, target) for method, variant in methods]
        line = [score.value if score else None for score in found]
        values.append(line)
        rows.append(_bli_row(run, (source, target), line, scores.final(family, final, source, target)))
    footer = []
    for label, into_hub in ((f"xx → {run.hub}", True), (f"{run.hub} → xx", False)):
        own = [place for place, (_, target) in enumerate(directions) if (target == run.hub) == into_hub]
        if len(own) > 1:
            footer.append(_mean_row(label, [rows[place] for place in own], [values[place] for place in own]))
    return Table(columns, rows, footer, title=family)


def _bli_row(
    run: RunData, direction: tuple[str, str], values: Sequence[float | None], final: Score | None
) -> list[Cell]:
    source, target = direction
    other = source if target == run.hub else target
    return [
        Cell(language_name(other), language=other),
        Cell(f"{source} → {target}"),
        *_marked(values),
        percent(final.coverage if final else None),
        percent(final.oov_wrong if final else None),
        count(final.items if final else None),
    ]


def _marked(values: Sequence[float | None]) -> list[Cell]:
    best = max((value for value in values if value is not None), default=None)
    cells = []
    for value in values:
        cell = percent(value)
        # Equal to what is printed, so that 71.23 and 71.24 are not told apart by a mark.
        marked = value is not None and best is not None and len(values) > 1 and cell.text == percent(best).text
        cells.append(Cell(cell.text, cell.value, best=marked))
    return cells


def _mean_row(label: str, rows: Sequence[Sequence[Cell]], values: Sequence[Sequence[float | None]]) -> list[Cell]:
    """Means over the rows that have every score, so that all columns average the same directions."""
    complete = [place for place, line in enumerate(values) if None not in line]
    if not complete:
        return [Cell("mean"), Cell(label), *(Cell("–") for _ in rows[0][2:])]
    means = [_mean_of([values[place][column] for place in complete]) for column in range(len(values[0]))]
    scope = f"mean of {len(complete)}" if len(complete) == len(values) else f"mean of {len(complete)} complete"
    tail = [_mean_of([rows[place][column].value for place in complete]) for column in (-3, -2)]
    return [Cell(scope), Cell(label), *_marked(means), *(percent(value) for value in tail), Cell("")]


def _mean_of(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _ordered(run: RunData, directions: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Into the hub first, then out of it; languages in the order of the run."""
    place = {code: position for position, code in enumerate(run.languages)}

    def key(direction: tuple[str, str]) -> tuple[bool, int, int]:
        source, target = direction
        return target != run.hub, place.get(source, len(place)), place.get(target, len(place))

    return sorted(directions, key=key)


def score_list(records: Sequence[ScoreRecord], limit: int = 800) -> Table:
    """Every record as one line, up to `limit` lines."""
    labels = ("task", "test set", "languages", "method", "metric")
    columns = [
        *(Column(label, numeric=False) for label in labels),
        Column("value"),
        Column("coverage"),
        Column("items"),
    ]
    rows = [
        [
            Cell(record.task),
            Cell(record.data),
            Cell(" → ".join(record.languages)),
            Cell(record.method),
            Cell(record.metric),
            Cell(f"{record.value:.4f}", record.value),
            percent(record.coverage),
            count(record.items),
        ]
        for record in records[:limit]
    ]
    return Table(columns, rows)


# --- decisions, corpora, stages -------------------------------------------------------------------


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
    reasons = list(dict.fromkeys(reason for corpus in corpora.values() for reason in corpus.dropped))
    columns = [
        Column("language", numeric=False),
        Column("paragraphs read"),
        *(Column(readable(reason), group="dropped") for reason in reasons),
        Column("sentences", group="kept"),
        Column("tokens", group="kept"),
        Column("words", group="vocabulary"),
        Column("% of tokens", group="vocabulary", hint="Share of the kept tokens that are in the vocabulary"),
    ]
    most = max((corpus.sentences for corpus in corpora.values()), default=0) or 1
    rows = [
        [
            Cell(language_name(code), language=code),
            count(corpus.paragraphs_read),
            *(count(corpus.dropped.get(reason, 0)) for reason in reasons),
            Cell(f"{corpus.sentences:,}", corpus.sentences, share=corpus.sentences / most),
            count(corpus.tokens),
            count(corpus.vocabulary_size),
            percent(corpus.vocabulary_coverage),
        ]
        for code, corpus in corpora.items()
    ]
    return Table(columns, rows)


def source_table(corpora: Mapping[str, CorpusSummary]) -> Table:
    """Where each text comes from and what cut it up."""
    labels = ("language", "source", "revision", "licence", "sentences by", "tokens by")
    rows = [
        [
            Cell(language_name(code), language=code),
            Cell(corpus.source or "–"),
            Cell(corpus.revision or "–"),
            Cell(corpus.licence or "–"),
            Cell(corpus.segmenter or "–"),
            Cell(corpus.tokenizer or "–"),
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
