"""Stage align: one language into the hub's space, and the choice whether that helped."""

import json
from pathlib import Path
from typing import Any

from x2s.align import AlignmentFailedError, VecMap, normalise, select
from x2s.evaluate import read_lexicon
from x2s.files import whole
from x2s.pipeline.declarations import STAGES, Outcome
from x2s.pipeline.layout import Run
from x2s.vectors import WordVectors


def run(run: Run, language: str | None) -> Outcome:
    """Align every method of the configuration; the final one, as selected, becomes the result."""
    assert language is not None
    config, outputs, facts, notes = run.config, [], {}, []
    for method in config.aligned_methods:
        vectors = WordVectors.load(run.vectors(language, method))
        unaligned = vectors.with_matrix(normalise(vectors.matrix))
        if language == config.hub:
            final = unaligned
            unaligned.save(run.aligned(language, method))
        else:
            final, said = _align(run, language, method, vectors, unaligned)
            facts[method] = said["choice"]
            if config.align.dictionary and not STAGES["align"].files(config, language):
                notes.append(f"{method}: no training dictionary for {language}; the seed is mutual neighbours")
            if not said.get("converged", True):
                notes.append(f"{method}: self-learning stopped at its largest number of iterations")
            if "reason" in said:
                notes.append(f"{method}: {said['reason']}")
        outputs.append(run.aligned(language, method))
        if method == config.align.result:
            final.save(run.final(language))
            outputs.append(run.final(language))
    chosen = ", ".join(f"{method} {choice}" for method, choice in facts.items())
    return Outcome(outputs, {"selection": facts, "notes": notes, "summary": chosen or "the hub: normalised only"})


def _align(
    run: Run, language: str, method: str, vectors: WordVectors, unaligned: WordVectors
) -> tuple[WordVectors, dict[str, Any]]:
    """The vectors to go on with and why. Where no alignment is found the language keeps its own."""
    settings, hub = run.config.align, run.config.hub
    target = WordVectors.load(run.vectors(hub, method))
    folder = run.aligned(language, method)
    vecmap = VecMap(
        settings.mode,
        final=settings.final,
        anchor=settings.anchor,
        vocabulary_cutoff=settings.vocabulary_cutoff,
        csls_neighbourhood=settings.csls_neighbourhood,
        seed=run.config.seed,
    )
    with whole(folder) as beside:
        try:
            mapping = vecmap.fit(vectors, target, _dictionary(run, language))
        except AlignmentFailedError as error:
            unaligned.save(beside)
            said: dict[str, Any] = {"choice": "unaligned", "reason": str(error)}
            final = unaligned
        else:
            aligned = mapping(vectors)
            aligned.save(beside)
            mapping.save(beside / "mapping")
            placed = vecmap.placed(target)
            selection = select(
                unaligned,
                aligned,
                placed,
                final=settings.final,
                anchor=settings.anchor,
                limit=settings.vocabulary_cutoff,
            )
            said = json.loads(selection.to_json()) | {"converged": mapping.converged}
            final = aligned if selection.choice == "aligned" else unaligned
        (beside / "selection.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    return final, said


def _dictionary(run: Run, language: str) -> list[tuple[str, str]] | None:
    """The training dictionary; None where none is configured or (unless supervised) this language has none."""
    pattern, hub = run.config.align.dictionary, run.config.hub
    if pattern is None:
        return None
    path = Path(pattern.format(source=language, target=hub))
    if not path.exists() and run.config.align.mode != "supervised":
        return None
    return list(read_lexicon(path, "muse", language, hub).pairs)
