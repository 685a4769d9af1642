"""Stage report: everything a finished run knows, on one page."""

import json
from typing import Any

from x2s import __version__
from x2s.align import mutual_neighbours
from x2s.pipeline.declarations import Outcome, jobs
from x2s.pipeline.layout import Run
from x2s.pipeline.manifests import read_manifest
from x2s.progress import start
from x2s.report import CorpusSummary, RunData, SelectionSummary, StageRun, write_report
from x2s.scores import ScoreRecord, read_scores
from x2s.vectors import WordVectors

_MAP_CANDIDATES = 5000
"""Most frequent words of each language among which translation pairs for the map are looked for."""


def run(run: Run, language: str | None) -> Outcome:
    """Write report.html."""
    drawing = start("draw the report", 1, "pages")
    write_report(gather(run), run.report)
    drawing.advance()
    size = run.report.stat().st_size / 2**20
    return Outcome([run.report], {"summary": f"{run.report.name}, {size:.1f} MB"})


def gather(run: Run) -> RunData:
    """Collect what the artefacts of a run say; what is missing is left out."""
    config = run.config
    vectors = {code: WordVectors.load(run.final(code)) for code in config.languages if run.final(code).exists()}
    teacher = read_manifest(run.manifest("teacher"))
    return RunData(
        title=config.title,
        config_yaml=config.to_yaml(),
        version=__version__,
        languages=config.languages,
        hub=config.hub,
        teacher=f"{teacher.facts['name']}, layer {teacher.facts['layer']}" if teacher else config.teacher.model,
        stages=_stages(run),
        corpora={code: summary for code in config.languages if (summary := _corpus(run, code)) is not None},
        scores=_scores(run),
        selections=_selections(run),
        vectors={code: found.take(max(config.report.search_words, _MAP_CANDIDATES)) for code, found in vectors.items()},
        final_method=config.align.result,
        map_pairs=_map_pairs(vectors, config.hub),
        search_words=config.report.search_words,
    )


def _stages(run: Run) -> list[StageRun]:
    found = [manifest for job in jobs(run.config) if (manifest := read_manifest(run.manifest(*job))) is not None]
    return [
        StageRun(
            manifest.stage,
            manifest.language,
            manifest.seconds,
            manifest.peak_memory_bytes,
            manifest.finished,
            tuple(manifest.outputs),
        )
        for manifest in sorted(found, key=lambda manifest: manifest.finished)
    ]


def _corpus(run: Run, language: str) -> CorpusSummary | None:
    path = run.corpus(language) / "corpus.json"
    if not path.exists():
        return None
    said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return CorpusSummary(**{name: said[name] for name in CorpusSummary.__dataclass_fields__ if name in said})


def _scores(run: Run) -> list[ScoreRecord]:
    return [
        record for code in run.config.others if run.scores(code).exists() for record in read_scores(run.scores(code))
    ]


def _selections(run: Run) -> list[SelectionSummary]:
    found = []
    for code in run.config.others:
        for method in run.config.aligned_methods:
            path = run.aligned(code, method) / "selection.json"
            if path.exists():
                said = json.loads(path.read_text(encoding="utf-8"))
                found.append(SelectionSummary(code, method, said["choice"], _evidence(said)))
    return found


def _evidence(said: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a selection, in the order of the argument."""
    if "reason" in said:
        return {"why": said["reason"]}
    return {
        "mean CSLS unaligned": said["unaligned"]["mean_csls"],
        "mean CSLS aligned, held-out words": said["held_out"]["mean_csls"],
        "mean CSLS aligned, all words": said["aligned"]["mean_csls"],
        "mutual neighbours unaligned": said["unaligned"]["mutual_share"],
        "mutual neighbours aligned, held-out words": said["held_out"]["mutual_share"],
        "words": said["unaligned"]["words"],
    }


def _map_pairs(vectors: dict[str, WordVectors], hub: str) -> dict[str, list[tuple[str, str]]]:
    """Frequent words that are mutual neighbours with a word of the hub, most frequent hub word first."""
    if hub not in vectors:
        return {}
    target = vectors[hub].take(_MAP_CANDIDATES)
    found = {}
    for code, source in vectors.items():
        if code == hub:
            continue
        pairs = mutual_neighbours(source.take(_MAP_CANDIDATES), target, _MAP_CANDIDATES)
        found[code] = sorted(pairs, key=lambda pair: target.row(pair[1]))
    return found
