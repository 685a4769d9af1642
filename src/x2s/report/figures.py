"""Figures as inline SVG; colours and fonts come from the page's style sheet, so that dark mode and print follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from x2s.report.data import RunData
from x2s.report.tables import duration, language_name, readable, stage_totals
from x2s.report.translation import BliScores
from x2s.report.wordmap import MapWord

_ROW = 26
_LEFT = 104
_PLOT = 380
_RIGHT = 54


@dataclass(frozen=True)
class Change:
    """Accuracy of one language before and after alignment, as fractions, and which one is kept."""

    label: str
    before: float | None
    after: float | None
    kept: str = ""


def changes(run: RunData, scores: BliScores, family: str, into_hub: bool) -> list[Change]:
    """Unaligned and aligned accuracy per language for one direction, final method."""
    method = run.final_method if run.final_method in scores.methods else scores.methods[-1]
    kept = {item.language: item.choice for item in run.selections if item.method == method}
    found = []
    for language in run.languages:
        direction = (language, run.hub) if into_hub else (run.hub, language)
        before = scores.get(family, method, "unaligned", *direction)
        after = scores.get(family, method, "aligned", *direction)
        if before or after:
            values = [score.value if score else None for score in (before, after)]
            found.append(Change(language_name(language), values[0], values[1], kept.get(language, "")))
    return found


def dumbbells(rows: Sequence[Change], title: str) -> Markup:
    """One line per language from a hollow dot (unaligned) to a full dot (aligned) on a common scale from 0 to 100."""
    height = len(rows) * _ROW + 34
    width = _LEFT + _PLOT + _RIGHT
    parts = [_axis(height - 26, _PLOT)]
    for position, row in enumerate(rows):
        y = position * _ROW + _ROW / 2
        parts.append(
            Markup('<text class="label" x="{}" y="{}" text-anchor="end">{}</text>').format(_LEFT - 10, y + 4, row.label)
        )
        parts.append(_dumbbell(row, y))
    return _svg(width, height, title, parts)


def _axis(bottom: float, plot: float) -> Markup:
    lines = [
        Markup(
            '<line class="grid" x1="{x}" x2="{x}" y1="0" y2="{bottom}"/>'
            '<text class="tick" x="{x}" y="{text}" text-anchor="middle">{tick}</text>'
        ).format(x=_LEFT + tick / 100 * plot, bottom=bottom, text=bottom + 16, tick=tick)
        for tick in range(0, 101, 20)
    ]
    return Markup("").join(lines)


def _dumbbell(row: Change, y: float) -> Markup:
    before, after = (None if value is None else _LEFT + value * _PLOT for value in (row.before, row.after))
    parts = []
    if before is not None and after is not None:
        loss = "loss" if after < before else "gain"
        parts.append(
            Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{y}" y2="{y}"/>').format(loss, before, after, y=y)
        )
    if before is not None:
        parts.append(Markup('<circle class="before" cx="{:.1f}" cy="{}" r="5"/>').format(before, y))
    if after is not None:
        parts.append(Markup('<circle class="after" cx="{:.1f}" cy="{}" r="5"/>').format(after, y))
    end = max(x for x in (before, after) if x is not None)
    value = row.after if row.after is not None else row.before
    difference = ""
    if row.before is not None and row.after is not None:
        difference = f" ({100 * (row.after - row.before):+.1f})".replace("-", "−")
    note = ", unaligned kept" if row.kept == "unaligned" else ""
    text = f"{100 * (value or 0):.1f}{difference}{note}"
    # Near the right edge the value goes to the left of the dots.
    if end > _LEFT + _PLOT - 60:
        start = min(x for x in (before, after) if x is not None)
        parts.append(
            Markup('<text class="value" x="{:.1f}" y="{}" text-anchor="end">{}</text>').format(start - 10, y + 4, text)
        )
    else:
        parts.append(Markup('<text class="value" x="{:.1f}" y="{}">{}</text>').format(end + 10, y + 4, text))
    return Markup("").join(parts)


def stage_bars(run: RunData) -> Markup:
    """One bar per stage, in order, as long as all its languages took together."""
    totals = stage_totals(run.stages)
    longest = max((seconds for _, seconds, _ in totals), default=0.0) or 1.0
    parts = []
    for position, (name, seconds, peak) in enumerate(totals):
        y = position * _ROW
        text = duration(seconds) + (f", up to {peak / 1e9:.1f} GB" if peak else "")
        parts.append(
            Markup(
                '<text class="label" x="{}" y="{}" text-anchor="end">{}</text>'
                '<rect class="bar" x="{}" y="{}" width="{:.1f}" height="{}" rx="2"/>'
                '<text class="value" x="{:.1f}" y="{}">{}</text>'
            ).format(
                _LEFT - 10,
                y + 17,
                readable(name),
                _LEFT,
                y + 4,
                max(seconds / longest * _PLOT, 1.0),
                _ROW - 8,
                _LEFT + seconds / longest * _PLOT + 8,
                y + 17,
                text,
            )
        )
    return _svg(_LEFT + _PLOT + 170, len(totals) * _ROW + 4, "Time per stage", parts)


# --- map ------------------------------------------------------------------------------------------

_SHAPES = (
    '<circle r="4.4"/>',
    '<rect x="-4" y="-4" width="8" height="8"/>',
    '<path d="M0 -5.2 L5 4 L-5 4 Z"/>',
    '<path d="M0 -5.6 L5.6 0 L0 5.6 L-5.6 0 Z"/>',
    '<path d="M0 5.2 L5 -4 L-5 -4 Z"/>',
    '<path d="M-1.6 -5 H1.6 V-1.6 H5 V1.6 H1.6 V5 H-1.6 V1.6 H-5 V-1.6 H-1.6 Z"/>',
    '<rect x="-6" y="-2.4" width="12" height="4.8"/>',
    '<path d="M-5 -5 L0 -1.8 L5 -5 L1.8 0 L5 5 L0 1.8 L-5 5 L-1.8 0 Z"/>',
)
"""One shape per language beside its colour: the map can be read without telling colours apart."""


def map_figure(words: Sequence[MapWord], width: float, height: float, hub: str) -> Markup:
    """Words as marker and label; a thin line ties each translation to its hub word."""
    codes = list(dict.fromkeys(word.language for word in words))
    centre = {word.concept: word for word in words if word.language == hub}
    lines = [
        Markup('<line class="tie" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(
            word.x, word.y, centre[word.concept].x, centre[word.concept].y
        )
        for word in words
        if word.language != hub and word.concept in centre
    ]
    labels = [
        Markup(
            '<g class="word l{}{}" transform="translate({:.1f} {:.1f})">{}'
            '<text x="9" y="4.5" lang="{}">{}</text><title>{}</title></g>'
        ).format(
            codes.index(word.language),
            " hub" if word.language == hub else "",
            word.x - word.width / 2 + 6,
            word.y,
            Markup(_SHAPES[codes.index(word.language)]),
            word.language,
            word.word,
            language_name(word.language),
        )
        for word in words
    ]
    return _svg(width, height, "Map of translations in the common space", [*lines, *labels], "map")


def map_legend(words: Sequence[MapWord]) -> Markup:
    """Marker and name of each language on the map."""
    codes = dict.fromkeys(word.language for word in words)
    items = [
        Markup(
            '<span class="key"><svg class="figure" width="16" height="14" viewBox="-8 -7 16 14" aria-hidden="true">'
            '<g class="word l{}">{}</g></svg> {}</span>'
        ).format(position, Markup(_SHAPES[position]), language_name(code))
        for position, code in enumerate(codes)
    ]
    return Markup(" ").join(items)


def _svg(width: float, height: float, title: str, parts: Sequence[Markup], kind: str = "") -> Markup:
    return Markup(
        '<svg class="figure {}" viewBox="0 0 {:.0f} {:.0f}" width="{:.0f}" role="img" aria-label="{}">{}</svg>'
    ).format(kind, width, height, width, title, Markup("").join(parts))
