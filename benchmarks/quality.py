"""How well words translate: four static methods, before and after alignment, over six languages into English.

LibreOffice's help text, the offline teacher at layer 6, MUSE's train and test dictionaries together, CSLS precision@1
over the words that all methods have. Needs X2S_DATA. Run as `python -m benchmarks.quality`; `--variants` scores more
settings (unaligned, no requirement), `--record` also writes docs/scores and the tables of docs/experiments.md.

The requirement: `combined` aligned is at least 6 points above `aggregated` unaligned and above `x2static` aligned on
average, and in no language is what the selection chose below the unaligned vectors. The last line gives the smaller of
the two margins: `quality measured required`.
"""

import argparse
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from statistics import mean

from benchmarks.static_pass import EPOCHS, HUB, LANGUAGES, LAYER, ROOT, cache, key, static_vectors
from benchmarks.tables import averages, write_tables
from benchmarks.verdict import conclude
from x2s.align import VecMap, normalise, select
from x2s.contextual.teacher import DATA_SHA256
from x2s.evaluate import Lexicon, evaluate_bli, read_lexicon
from x2s.progress import Progress, listen
from x2s.scores import ScoreRecord, read_scores, write_scores
from x2s.vectors import WordVectors

REQUIRED = 6.0
STATES = {"aligned": VecMap(), "anchored": VecMap(final="orthogonal", anchor=0.3)}
"""How aligned: by default, and as a rotation pulled towards the teacher's shared coordinates."""
VARIED = ("de", "fi", "tr")
"""Languages of `--variants`: much, little and middling text."""
MODEL = f"multilingual-e5-small (sha256:{DATA_SHA256[:12]}), layer {LAYER}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", action="store_true", help="score other settings of the methods, unaligned")
    parser.add_argument("--record", action="store_true", help="write docs/scores and the tables of docs/experiments.md")
    options = parser.parse_args()
    listen(_Heartbeat())
    name = "variants" if options.variants else "quality"
    languages = VARIED if options.variants else LANGUAGES[1:]
    records = [record for language in languages for record in _scores(language, options.variants)]
    if options.record:
        write_scores(ROOT / "docs" / "scores" / f"{name}.jsonl", records)
        write_tables()
    table = averages(records, "precision@1/csls")
    for method, by_language in table.items():
        cells = "".join(f"{language} {100 * mean(values):5.1f}  " for language, values in by_language.items())
        print(f"{method:44} {100 * _average(by_language):5.1f}   {cells}")
    if options.variants:
        return
    ours = _average(table["combined/aligned"])
    margins = {
        reference: 100 * (ours - _average(table[reference]))
        for reference in ("aggregated/unaligned", "x2static/aligned")
    }
    for reference, margin in margins.items():
        print(f"combined/aligned - {reference}: {margin:+.2f}")
    lowered = _lowered(records)
    if lowered:
        print(f"alignment lowered selected languages: {', '.join(lowered)}")
        print(f"quality {min(margins.values()):.3f} {REQUIRED:.3f}")
        sys.exit(1)
    conclude("quality", min(margins.values()), REQUIRED)


def _average(by_language: dict[str, list[float]]) -> float:
    return mean(mean(values) for values in by_language.values())


def _lowered(records: Iterable[ScoreRecord]) -> list[str]:
    """Where the vectors of `combined` that selection chose score below the unaligned ones."""
    scores = {
        (record.method, record.languages[0]): record
        for record in records
        if record.metric == "precision@1/csls" and record.method.startswith("combined/")
    }
    lowered = []
    for language in LANGUAGES[1:]:
        for state in STATES:
            aligned = scores[f"combined/{state}", language]
            chosen = aligned.details["selection"]["choice"]
            gain = 100 * (aligned.value - scores["combined/unaligned", language].value)
            print(f"combined {language} {state:9} {gain:+5.2f}, chosen: {chosen}")
            if chosen == "aligned" and gain < 0:
                lowered.append(f"{language} ({state})")
    return lowered


def _scores(language: str, variants: bool) -> list[ScoreRecord]:
    """Records of all methods of one language, from the cache where nothing that matters has changed."""
    lexicon = _muse(language)
    state = key(
        "corpus", "contextual", "static", "align", "evaluate", "vectors",
        lexicon=lexicon.revision, variants=variants, epochs=EPOCHS,
    )  # fmt: skip
    path = cache() / f"scores-{state}" / f"{language}.jsonl"
    if not path.exists():
        source, hub = static_vectors(language, variants), static_vectors(HUB, variants)
        records = []
        for name in source:
            method, _, seed = name.partition("/")
            records += _score(source[name], hub[name], lexicon, method, int(seed) if seed else None, not variants)
        write_scores(path, records)
    return read_scores(path)


def _score(
    source: WordVectors, hub: WordVectors, lexicon: Lexicon, method: str, seed: int | None, align: bool
) -> list[ScoreRecord]:
    def evaluated(vectors: WordVectors, state: str, **details: object) -> list[ScoreRecord]:
        found = evaluate_bli(
            vectors, placed_hub, lexicon, method_name=f"{method}/{state}", model=MODEL, ks=(1,), seed=seed
        )
        return [record.model_copy(update={"details": record.details | details}) for record in found]

    placed_hub = hub.with_matrix(normalise(hub.matrix))
    unaligned = source.with_matrix(normalise(source.matrix))
    records = evaluated(unaligned, "unaligned")
    for state, settings in STATES.items() if align else ():
        mapping = settings.fit(source, hub)
        aligned = mapping(source)
        selection = select(unaligned, aligned, placed_hub, final=settings.final, anchor=settings.anchor)
        evidence = {"objective": mapping.objective, "iterations": len(mapping.history), "selection": asdict(selection)}
        records += evaluated(aligned, state, **evidence)
    return records


def _muse(language: str) -> Lexicon:
    folder = os.environ.get("X2S_DATA")
    if not folder:
        sys.exit("quality: X2S_DATA is unset; it names the folder with the test sets, bli/muse among them")
    parts = [Path(folder) / "bli" / "muse" / f"{language}-{HUB}.{part}.txt" for part in ("0-5000", "5000-6500")]
    return read_lexicon(parts, "muse", language, HUB, name=f"MUSE {language}-{HUB} train+test")


class _Heartbeat:
    """One line to stderr for each long loop as it ends."""

    def __call__(self, progress: Progress) -> None:
        if progress.total and progress.done >= progress.total > 500:
            print(f"  {progress.what}: {progress.done} {progress.unit}", file=sys.stderr)


if __name__ == "__main__":
    main()
