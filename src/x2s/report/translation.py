"""Translation scores: look-up by method, variant and direction, and the tables made from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from x2s.errors import InputError
from x2s.languages import get_language
from x2s.report.data import RunData
from x2s.report.tables import Cell, Column, Table, count, language_name, percent, readable
from x2s.scores import ScoreRecord

HEADLINE_METRIC = "precision@1/csls"
_JOINTS = " -_./:,()"
VARIANTS = ("unaligned", "aligned", "selected")


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
    """Name of the test set up to where it names the languages: `muse-de-en`, `FreeDict deu-eng 1.9` -> muse, FreeDict.

    A name that begins with the languages loses them only: `de-en.5000-6500.txt` -> `5000-6500.txt`.
    """
    first, second = (_codes(code) for code in record.languages)
    pair = rf"(?<![^\W_])(?:{first}[\W_]+{second}|{second}[\W_]+{first})(?![^\W_])"
    before, *after = re.split(pair, record.data, maxsplit=1)
    return before.strip(_JOINTS) or "".join(after).strip(_JOINTS) or record.data


def _codes(code: str) -> str:
    try:
        return f"(?:{re.escape(code)}|{re.escape(get_language(code).iso639_3)})"
    except InputError:
        return re.escape(code)


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
