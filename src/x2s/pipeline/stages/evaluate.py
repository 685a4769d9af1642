"""Stage evaluate: translations between one language and the hub, against the test dictionaries."""

import json
from pathlib import Path

from x2s.align import normalise
from x2s.config import LexiconConfig
from x2s.errors import InputError
from x2s.evaluate import Lexicon, NoDictionaryError, evaluate_bli, freedict, read_lexicon
from x2s.pipeline.declarations import Outcome
from x2s.pipeline.layout import Run
from x2s.pipeline.manifests import read_manifest
from x2s.progress import start
from x2s.scores import ScoreRecord, write_scores
from x2s.vectors import WordVectors


def run(run: Run, language: str | None) -> Outcome:
    """Score every aligned method unaligned, aligned and as selected, in both directions."""
    assert language is not None
    hub, notes, records = run.config.hub, [], []
    lexicons: list[Lexicon] = []
    empty: list[str] = []
    for settings in run.config.evaluate.lexicons:
        for source, target in ((language, hub), (hub, language)):
            try:
                lexicon = _lexicon(run, settings, source, target)
            except NoDictionaryError as error:
                notes.append(str(error))
                continue
            if lexicon is None:
                notes.append(f"{settings.name or settings.format}: no dictionary {source}-{target}")
            else:
                lexicons.append(lexicon)
    progress = start(f"score {language}", len(lexicons) * len(run.config.aligned_methods), "dictionaries")
    for method in run.config.aligned_methods:
        for lexicon in lexicons:
            try:
                records += _score(run, language, method, lexicon)
            except InputError as error:
                empty.append(str(error))
            progress.advance()
    if empty and not records:
        raise InputError(empty[0])
    notes += dict.fromkeys(empty)
    write_scores(run.scores(language), records)
    return Outcome([run.scores(language)], {"notes": notes, "summary": _summary(run, language, records, notes)})


def _lexicon(run: Run, settings: LexiconConfig, source: str, target: str) -> Lexicon | None:
    if settings.format == "freedict":
        return freedict(source, target, run.cache)
    path = Path(str(settings.path).format(source=source, target=target))
    if not path.exists():
        return None
    return read_lexicon(path, settings.format, source, target, name=settings.name)


def _score(run: Run, language: str, method: str, lexicon: Lexicon) -> list[ScoreRecord]:
    settings, hub = run.config.evaluate, run.config.hub
    teacher = read_manifest(run.manifest("teacher"))
    model = f"{teacher.facts['name']}@{teacher.facts['layer']}" if teacher else run.config.teacher.model
    choice = json.loads((run.aligned(language, method) / "selection.json").read_text(encoding="utf-8"))["choice"]
    hub_vectors = WordVectors.load(run.aligned(hub, method))
    raw = WordVectors.load(run.vectors(language, method))
    sides = {
        "unaligned": raw.with_matrix(normalise(raw.matrix)),
        "aligned": WordVectors.load(run.aligned(language, method)),
    }
    records = []
    for name, vectors in sides.items():
        pair = (vectors, hub_vectors) if lexicon.source_language == language else (hub_vectors, vectors)
        scored = evaluate_bli(
            *pair,
            lexicon,
            method_name=f"{method}/{name}",
            model=model,
            retrieval=settings.retrieval,
            ks=settings.ks,
            csls_k=settings.csls_k,
            seed=run.config.seed if method == "x2static" else None,
        )
        records += scored
        if name == choice:
            records += [record.model_copy(update={"method": f"{method}/selected"}) for record in scored]
    return records


def _summary(run: Run, language: str, records: list[ScoreRecord], notes: list[str]) -> str:
    shown = [
        f"{'-'.join(record.languages)} {100 * record.value:.1f}"
        for record in records
        if record.metric == "precision@1/csls" and record.method == f"{run.config.align.result}/selected"
    ]
    if not shown:
        return notes[0].split("\n")[0] if notes else "no test dictionaries are configured"
    return f"P@1 (CSLS, {run.config.align.result}, covered words) {', '.join(shown)}"
