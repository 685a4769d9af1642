"""Stage align: one language into the hub's space, and the choice whether that helped."""

from pathlib import Path

from x2s.align import Selection, VecMap, normalise, select
from x2s.evaluate import read_lexicon
from x2s.files import whole
from x2s.pipeline.declarations import Outcome
from x2s.pipeline.layout import Run
from x2s.vectors import WordVectors


def run(run: Run, language: str | None) -> Outcome:
    """Align every method of the configuration; the final one, as selected, becomes the result."""
    assert language is not None
    config, outputs, facts = run.config, [], {}
    for method in config.aligned_methods:
        vectors = WordVectors.load(run.vectors(language, method))
        unaligned = vectors.with_matrix(normalise(vectors.matrix))
        if language == config.hub:
            final = unaligned
            unaligned.save(run.aligned(language, method))
        else:
            aligned, selection = _align(run, language, method, vectors, unaligned)
            final = aligned if selection.choice == "aligned" else unaligned
            facts[method] = selection.choice
        outputs.append(run.aligned(language, method))
        if method == config.align.final:
            final.save(run.final(language))
            outputs.append(run.final(language))
    chosen = ", ".join(f"{method} {choice}" for method, choice in facts.items())
    return Outcome(outputs, {"selection": facts, "summary": chosen or "the hub: normalised only"})


def _align(
    run: Run, language: str, method: str, vectors: WordVectors, unaligned: WordVectors
) -> tuple[WordVectors, Selection]:
    settings, hub = run.config.align, run.config.hub
    target = WordVectors.load(run.vectors(hub, method))
    mapping = VecMap(
        settings.mode,
        vocabulary_cutoff=settings.vocabulary_cutoff,
        csls_neighbourhood=settings.csls_neighbourhood,
        seed=run.config.seed,
    ).fit(vectors, target, _dictionary(run, language))
    aligned = mapping(vectors)
    selection = select(unaligned, aligned, target.with_matrix(normalise(target.matrix)))
    folder = run.aligned(language, method)
    with whole(folder) as beside:
        aligned.save(beside)
        mapping.save(beside / "mapping")
        (beside / "selection.json").write_text(selection.to_json(), encoding="utf-8")
    return aligned, selection


def _dictionary(run: Run, language: str) -> list[tuple[str, str]] | None:
    pattern, hub = run.config.align.dictionary, run.config.hub
    if pattern is None or not Path(pattern.format(source=language, target=hub)).exists():
        return None
    path = pattern.format(source=language, target=hub)
    return list(read_lexicon(path, "muse", language, hub).pairs)
