"""The map: which words it shows, where t-SNE puts them, and how labels keep off each other."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from x2s.vectors import WordVectors

MOST_LANGUAGES = 8
_LABELS = 132
_LEAST_LETTERS = 5
_FIRST_WORDS = 3000


@dataclass(frozen=True)
class MapWord:
    """One word on the map: its language, the concept (row of the hub word) it belongs to, and its centre."""

    word: str
    language: str
    concept: int
    x: float
    y: float
    width: float


def word_map(
    vectors: Mapping[str, WordVectors],
    pairs: Mapping[str, Sequence[tuple[str, str]]],
    hub: str,
    *,
    width: float,
    height: float,
    font: float = 13.0,
) -> list[MapWord]:
    """Choose concepts, project their words to two dimensions and move labels apart.

    Concepts are frequent hub words with a translation in every language of the map (or, failing that, in as many as
    possible), skipping those too similar to one already chosen. Translations come from `pairs`; a language
    without pairs gets mutual nearest neighbours. Deterministic.

    Args:
        vectors: Vectors in one common space.
        pairs: (word, hub word) by language.
        hub: Code of the hub language.
        width: Of the drawing, in px; `height` likewise.
        height: See `width`.
        font: Size of the labels in px.
    """
    if hub not in vectors or len(vectors) < 2:
        return []
    codes = [hub, *(code for code in vectors if code != hub)][:MOST_LANGUAGES]
    translations = {code: _translations(vectors[code], vectors[hub], pairs.get(code, ())) for code in codes[1:]}
    concepts = _concepts(vectors, translations, hub, _LABELS // len(codes))
    members = [
        (code, row, concept)
        for concept in concepts
        for code, row in [(hub, concept), *((c, t[concept]) for c, t in translations.items() if concept in t)]
    ]
    if len(members) < 4:
        return []
    points = np.stack([_unit(vectors[code].matrix[row]) for code, row, _ in members])
    words = [vectors[code].words[row] for code, row, _ in members]
    widths = np.array([label_width(word, font) + font for word in words])
    places = _spread(tsne(points, perplexity=max(2.0, 0.8 * len(codes))), widths, 1.35 * font, width, height)
    return [
        MapWord(word, code, concept, float(x), float(y), float(label))
        for word, (code, _, concept), (x, y), label in zip(words, members, places, widths, strict=True)
    ]


def _unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12), dtype=np.float64)


def _units(matrix: np.ndarray) -> np.ndarray:
    return np.asarray(matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12))


def _translations(own: WordVectors, hub: WordVectors, pairs: Sequence[tuple[str, str]]) -> dict[int, int]:
    """Row of the hub word -> row of its most frequent translation."""
    if not pairs:
        similar = _units(own.matrix[:_FIRST_WORDS]) @ _units(hub.matrix[:_FIRST_WORDS]).T
        to_hub, from_hub = similar.argmax(axis=1), similar.argmax(axis=0)
        return {int(target): row for row, target in enumerate(to_hub) if from_hub[target] == row}
    own_rows = {word: row for row, word in enumerate(own.words)}
    hub_rows = {word: row for row, word in enumerate(hub.words)}
    found: dict[int, int] = {}
    for word, hub_word in pairs:
        row, target = own_rows.get(word), hub_rows.get(hub_word)
        if row is not None and target is not None and row < found.get(target, len(own_rows)):
            found[target] = row
    return found


def _concepts(
    vectors: Mapping[str, WordVectors], translations: Mapping[str, dict[int, int]], hub: str, wanted: int
) -> list[int]:
    """Frequent hub rows that most languages can translate, far enough from each other; ties by frequency."""
    words = vectors[hub].words
    usable = {
        row: [code for code, table in translations.items() if row in table]
        for row in range(min(len(words), 2 * _FIRST_WORDS))
        if len(words[row]) >= _LEAST_LETTERS and words[row].isalpha()
    }
    chosen: list[int] = []
    taken: set[tuple[str, int]] = set()
    for needed in range(len(translations), 0, -1):
        for limit in (0.3, 0.5):
            for row, codes in usable.items():
                if len(chosen) == wanted:
                    return chosen
                own = {(code, translations[code][row]) for code in codes}
                # The same string in every language says nothing about alignment.
                spellings = {vectors[code].words[place] for code, place in own} | {words[row]}
                if len(codes) < needed or row in chosen or own & taken or len(spellings) < 2:
                    continue
                vector = _unit(vectors[hub].matrix[row])
                if all(float(vector @ _unit(vectors[hub].matrix[other])) < limit for other in chosen):
                    chosen.append(row)
                    taken |= own
        if len(chosen) >= min(wanted, 8):
            return chosen
    return chosen


def tsne(points: np.ndarray, perplexity: float, steps: int = 750) -> np.ndarray:
    """Exact t-SNE of [n, d] points to [n, 2], started from their principal components.

    Source: van der Maaten and Hinton, JMLR 2008; meant for a few hundred points.
    """
    n = len(points)
    centred = points - points.mean(axis=0)
    squared = np.maximum(2.0 - 2.0 * points @ points.T, 0.0)
    affinity = _affinities(squared, min(perplexity, (n - 1) / 3))
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    place: np.ndarray = u[:, :2] * s[:2]
    # The sign of a singular vector is arbitrary: fix it, so that machines agree.
    place *= np.sign(place[np.abs(place).argmax(axis=0), [0, 1]])
    place *= 1e-2 / max(float(place[:, 0].std()), 1e-12)
    velocity = np.zeros_like(place)
    for step in range(steps):
        exaggeration, momentum = (8.0, 0.5) if step < 200 else (1.0, 0.8)
        difference = place[:, None] - place[None]
        kernel = 1.0 / (1.0 + (difference**2).sum(axis=2))
        np.fill_diagonal(kernel, 0.0)
        force = (exaggeration * affinity - kernel / kernel.sum()) * kernel
        velocity = momentum * velocity - 10.0 * 4.0 * (force[:, :, None] * difference).sum(axis=1)
        place = place + velocity
        place -= place.mean(axis=0)
    return place


def _affinities(squared: np.ndarray, perplexity: float) -> np.ndarray:
    """[n, n] symmetric probabilities; each row's entropy is log(perplexity), found by bisection."""
    n = len(squared)
    low, high = np.full(n, -20.0), np.full(n, 20.0)
    off = ~np.eye(n, dtype=bool)
    nearest = np.where(off, squared, np.inf).min(axis=1, keepdims=True)
    shifted = np.where(off, squared - nearest, 0.0)
    for _ in range(60):
        middle = (low + high) / 2
        weight = np.where(off, np.exp(-shifted * np.exp(middle)[:, None]), 0.0)
        share = weight / weight.sum(axis=1, keepdims=True)
        entropy = -(share * np.log(np.maximum(share, 1e-300))).sum(axis=1)
        too_wide = entropy > np.log(perplexity)
        low, high = np.where(too_wide, middle, low), np.where(too_wide, high, middle)
    return np.asarray((share + share.T) / (2 * n))


def _spread(place: np.ndarray, widths: np.ndarray, line: float, width: float, height: float) -> np.ndarray:
    """Fit points into the drawing, then push overlapping labels apart along the shorter way."""
    low, high = place.min(axis=0), place.max(axis=0)
    margin = np.array([widths.max() / 2 + 4, line])
    centre: np.ndarray = margin + (place - low) / np.maximum(high - low, 1e-12) * (
        np.array([width, height]) - 2 * margin
    )
    gap_x = (widths[:, None] + widths[None]) / 2 + 3
    half = np.stack([widths / 2 + 2, np.full(len(widths), line / 2 + 2)], axis=1)
    # A hair of order keeps coinciding points from staying on top of each other.
    centre += np.arange(len(centre))[:, None] * np.array([1e-3, 1.7e-3])
    for _ in range(2000):
        dx = centre[:, None, 0] - centre[None, :, 0]
        dy = centre[:, None, 1] - centre[None, :, 1]
        over_x, over_y = gap_x - np.abs(dx), line - np.abs(dy)
        hit = (over_x > 0) & (over_y > 0)
        np.fill_diagonal(hit, False)
        if not hit.any():
            break
        sideways = hit & (over_x < over_y)
        upwards = hit & ~sideways
        centre[:, 0] += 0.3 * np.where(sideways, np.copysign(over_x + 0.5, dx), 0.0).sum(axis=1)
        centre[:, 1] += 0.3 * np.where(upwards, np.copysign(over_y + 0.5, dy), 0.0).sum(axis=1)
        centre = np.clip(centre, half, np.array([width, height]) - half)
    return centre


def label_width(word: str, font: float) -> float:
    """Generous estimate of a label's width in px: 1.05 em for wide letters, 0 for marks, 0.62 em for others."""
    ems = 0.0
    for letter in word:
        if unicodedata.combining(letter) or unicodedata.category(letter) == "Mn":
            continue
        if unicodedata.east_asian_width(letter) in "WF":
            ems += 1.05
        else:
            ems += 0.9 if letter in "mwMWшщжюфыШЩЖЮФЫ" else 0.62
    return ems * font
