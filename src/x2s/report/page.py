"""The HTML page: one file that opens from disk, asks the network for nothing and runs only its own script."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from x2s.files import whole
from x2s.report import figures
from x2s.report.data import RunData
from x2s.report.paper import compare
from x2s.report.search import search_data
from x2s.report.tables import (
    corpus_table,
    duration,
    language_name,
    readable,
    selection_table,
    source_table,
    stage_table,
)
from x2s.report.translation import HEADLINE_METRIC, BliScores, bli_tables, score_list
from x2s.report.wordmap import MapWord, word_map
from x2s.scores import environment

_MAP_SIZE = (1120.0, 700.0)


def write_report(run: RunData, path: str | Path) -> None:
    """Write one self-contained HTML page to `path`; it appears whole or not at all.

    Args:
        run: What to show. Missing parts are allowed: the page says how to make them.
        path: The file, e.g. `runs/demo/report.html`.

    Raises:
        UnavailableError: The disk is full, or the place cannot be written.
    """
    page = render(run)
    with whole(path) as beside:
        beside.write_text(page, encoding="utf-8")


def render(run: RunData) -> str:
    """The page as a string."""
    templates = Environment(
        loader=PackageLoader("x2s.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = _source(templates, "page.js")
    words = word_map(run.vectors, run.map_pairs, run.hub, width=_MAP_SIZE[0], height=_MAP_SIZE[1])
    names = {code: language_name(code) for code in run.vectors}
    search = search_data(run.vectors, names, words=run.search_words)
    scores = BliScores(run.scores)
    return templates.get_template("page.html.j2").render(
        run=run,
        style=Markup(_source(templates, "page.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        search_json=_json_in_html({**search, "examples": _examples(words, run, search)}),
        search=search,
        words_per_language=max((len(language["words"]) for language in search["languages"]), default=0),
        headline=_headline(run, scores),
        tiles=_tiles(run),
        charts=_charts(run, scores),
        tables=bli_tables(run, scores),
        all_scores=score_list(run.scores),
        comparison=compare(run, scores),
        selection=selection_table(run.selections),
        kept_unaligned=[language_name(item.language) for item in run.selections if item.choice != "aligned"],
        words=words,
        figure_map=figures.map_figure(words, *_MAP_SIZE, run.hub) if words else None,
        legend=figures.map_legend(words),
        pairs_from_vectors=run.map_pairs_are_neighbours or not any(run.map_pairs.values()),
        corpus=corpus_table(run.corpora),
        sources=source_table(run.corpora),
        stages=stage_table(run.stages),
        stage_bars=figures.stage_bars(run),
        language_name=language_name,
        readable=readable,
        environment=environment() if not run.scores else run.scores[0].environment,
    )


def _source(templates: Environment, name: str) -> str:
    assert templates.loader is not None
    return templates.loader.get_source(templates, name)[0]


def _json_in_html(data: dict[str, Any]) -> Markup:
    """JSON that cannot end the script element it stands in, whatever the words are."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _headline(run: RunData, scores: BliScores) -> dict[str, Any] | None:
    """Means over the languages into the hub: what is delivered, without alignment, coverage."""
    for family in scores.families:
        method = run.final_method if run.final_method in scores.methods else scores.methods[-1]
        directions = [(source, target) for source, target in scores.directions(family) if target == run.hub]
        final = [score for d in directions if (score := scores.final(family, method, *d))]
        plain = [score for d in directions if (score := scores.get(family, method, "unaligned", *d))]
        if final:
            accuracy = sum(score.value for score in final) / len(final)
            before = sum(score.value for score in plain) / len(plain) if len(plain) == len(final) else None
            return {
                "accuracy": f"{100 * accuracy:.1f}",
                "before": None if before is None else f"{100 * before:.1f}",
                "gain": None if before is None else f"{100 * (accuracy - before):+.1f}".replace("-", "−"),
                "coverage": f"{100 * sum(score.coverage for score in final) / len(final):.0f}",
                "languages": [language_name(source) for source, _ in directions],
                "method": readable(method),
                "family": family,
                "metric": HEADLINE_METRIC,
            }
    return None


def _tiles(run: RunData) -> list[tuple[str, str]]:
    """The size of the run in a few numbers: (number, what it counts)."""
    tiles = []
    if run.languages:
        tiles.append((str(len(run.languages)), "languages"))
    if run.corpora:
        tiles.append((f"{sum(corpus.sentences for corpus in run.corpora.values()):,}", "sentences"))
    if run.vectors:
        tiles.append((f"{sum(len(found.words) for found in run.vectors.values()):,}", "word vectors"))
    if run.stages:
        tiles.append((duration(sum(stage.seconds for stage in run.stages)), "computing time"))
    return tiles


def _charts(run: RunData, scores: BliScores) -> list[tuple[str, Markup]]:
    """(caption, figure) for both directions of each test set that has unaligned and aligned scores."""
    charts = []
    for family in scores.families:
        hub = language_name(run.hub)
        for into_hub, caption in ((True, f"into {hub}"), (False, f"out of {hub}")):
            rows = figures.changes(run, scores, family, into_hub)
            if rows:
                label = caption if len(scores.families) == 1 else f"{family}: {caption}"
                charts.append((label, figures.dumbbells(rows, f"Accuracy before and after alignment, {label}")))
    return charts


def _examples(words: Sequence[MapWord], run: RunData, search: dict[str, Any]) -> list[tuple[str, str]]:
    """A few (word, language code) to try: one per language from the map, the hub's first."""
    known = {language["code"]: set(language["words"]) for language in search["languages"]}
    examples: dict[str, tuple[str, str]] = {}
    used: set[int] = set()
    for code in [run.hub, *(code for code in run.languages if code != run.hub)][:6]:
        for word in words:
            if word.language == code and word.concept not in used and word.word in known.get(code, ()):
                examples[code] = (word.word, code)
                used.add(word.concept)
                break
    if not examples:
        return [(language["words"][0], language["code"]) for language in search["languages"][:1] if language["words"]]
    return list(examples.values())
