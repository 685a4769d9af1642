"""Our numbers beside the paper's, and in what the two differ.

Published numbers: Hämmerl, Libovický, Fraser, Findings of ACL 2022, Tables 1 and 5, in `paper_tables.json`.
They are percentages; our scores are fractions and are multiplied by 100 here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from x2s.report.data import RunData
from x2s.report.tables import Cell, Column, Table, language_name, readable
from x2s.report.translation import BliScores

METHODS = {
    "X2S-M": "unaligned",
    "X2S-MA": "aligned",
    "fasttext_unsup": "fastText, unsupervised VecMap",
    "MUSE": "MUSE, supervised",
    "RCSLS": "RCSLS, supervised",
}
"""Rows of the paper's tables and what the page calls them."""


@dataclass(frozen=True)
class Comparison:
    """The paper's numbers beside ours: per direction, as means over shared directions, and the published means."""

    family: str
    directions: Table
    differences: Sequence[str]


@cache
def published() -> dict[str, Any]:
    """Tables 1 and 5 of the paper."""
    return dict(json.loads((files("x2s.report") / "paper_tables.json").read_text(encoding="utf-8")))


def compare(run: RunData, scores: BliScores) -> Comparison | None:
    """Set the final vectors of a run beside the paper where languages overlap; None where none does."""
    family = next((name for name in scores.families if "muse" in name.lower()), None) or next(
        iter(scores.families), None
    )
    if family is None:
        return None
    method = run.final_method if run.final_method in scores.methods else scores.methods[-1]
    table_5: dict[str, dict[str, float | None]] = published()["table_5"]["rows"]
    rows: list[tuple[tuple[str, str], list[float | None]]] = []
    for into_hub in (True, False):
        for language in run.languages:
            direction = (language, "en") if into_hub else ("en", language)
            name = "-".join(direction)
            if name not in table_5["X2S-M"] or scores.final(family, method, *direction) is None:
                continue
            ours = [_of(scores, family, method, variant, direction) for variant in ("unaligned", "aligned", "selected")]
            rows.append((direction, [*ours, *(table_5[row].get(name) for row in METHODS)]))
    if not rows:
        return None
    return Comparison(family, _table(method, rows), _differences(run, family, method))


def _of(scores: BliScores, family: str, method: str, variant: str, direction: tuple[str, str]) -> float | None:
    found = scores.get(family, method, variant, *direction)
    return 100 * found.value if found else None


def _table(method: str, rows: Sequence[tuple[tuple[str, str], list[float | None]]]) -> Table:
    ours = f"this run, {readable(method)}"
    columns = [
        Column("language", numeric=False),
        Column("direction", numeric=False),
        *(Column(variant, group=ours) for variant in ("unaligned", "aligned", "selected")),
        *(
            Column(name, group="the paper" if key in ("X2S-M", "X2S-MA") else "quoted in the paper", hint=key)
            for key, name in METHODS.items()
        ),
    ]
    body = [
        [
            Cell(language_name(source if target == "en" else target), language=source if target == "en" else target),
            Cell(f"{source} → {target}"),
            *(_cell(value) for value in values),
        ]
        for (source, target), values in rows
    ]
    footer = []
    for label, into_hub in (("xx → en", True), ("en → xx", False)):
        own = [values for (_, target), values in rows if (target == "en") == into_hub]
        if not own:
            continue
        # A column with gaps would average other languages than its neighbours: it gets a dash.
        means = [_mean(list(column)) for column in zip(*own, strict=True)]
        footer.append([Cell(f"mean of {len(own)}"), Cell(label), *(_cell(value) for value in means)])
    for label, key in (("xx → en", "xx-en"), ("en → xx", "en-xx")):
        table_1 = published()["table_1"]["rows"]
        values = [None, None, None, *(table_1[row][key] for row in METHODS)]
        footer.append([Cell("published mean of 17"), Cell(label), *(_cell(value) for value in values)])
    return Table(columns, body, footer)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _cell(value: float | None) -> Cell:
    return Cell("–") if value is None else Cell(f"{value:.1f}", value)


def _differences(run: RunData, family: str, method: str) -> list[str]:
    sources = ", ".join(dict.fromkeys(corpus.source for corpus in run.corpora.values() if corpus.source))
    sizes = [corpus.sentences for corpus in run.corpora.values()]
    text = f"{sources or 'the corpus of this run'}"
    if sizes:
        low, high = min(sizes), max(sizes)
        text += f", {low:,} sentences" if low == high else f", {low:,} to {high:,} sentences"
    return [
        f"Teacher: {run.teacher or 'see the configuration'}. The paper: XLM-R base, layer 6, 768 dimensions.",
        f"Text: {text} per language. The paper: up to 1,000,000 sentences of CC100 per language.",
        f"Test dictionary: {family}. The paper: the MUSE test dictionaries.",
        f"Vectors: {readable(method)}. The paper: X2Static (X2S-M), mapped with VecMap (X2S-MA).",
    ]
