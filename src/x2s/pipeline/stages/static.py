"""Stage static: one pass of the teacher over a corpus, all static methods from it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from x2s.contextual import Encoder, Occurrences, Recording
from x2s.corpus.sentences import SentenceFile
from x2s.corpus.vocabulary import Vocabulary
from x2s.pipeline.declarations import Outcome
from x2s.pipeline.layout import Run
from x2s.pipeline.stages.teacher import open_encoder
from x2s.static import learn_static


def run(run: Run, language: str | None) -> Outcome:
    """Learn all methods of the configuration."""
    assert language is not None
    settings, seed = run.config.static, run.config.seed
    corpus = SentenceFile(run.corpus(language) / "sentences.parquet")
    vocabulary = Vocabulary.load(run.corpus(language) / "vocabulary.tsv")
    encoder = open_encoder(run)
    with _batches(run, language, encoder, corpus, vocabulary) as batches:
        start = None
        if settings.start == "aggregated" and "x2static" in settings.methods:
            start = learn_static(batches, vocabulary, encoder.dimension, language, ("aggregated",))["aggregated"]
        found = learn_static(
            batches,
            vocabulary,
            encoder.dimension,
            language,
            settings.methods,
            ridge=settings.ridge,
            epochs=settings.epochs,
            learning_rate=settings.learning_rate,
            negatives=settings.negatives,
            subsample=settings.subsample,
            seed=seed,
            start=start,
            layers=settings.layers,
        )
    for method, vectors in found.items():
        vectors.save(run.vectors(language, method))
    words = max(map(len, found.values()))
    return Outcome(
        [run.vectors(language, method) for method in found],
        {
            "teacher_revision": encoder.revision,
            "layer": encoder.layer,
            "words": words,
            "words_without_vector": len(vocabulary) - words,
            "summary": f"{words:,} words, " + ", ".join(f"{name} {v.dimension}d" for name, v in found.items()),
        },
    )


@contextmanager
def _batches(
    run: Run, language: str, encoder: Encoder, corpus: SentenceFile, vocabulary: Vocabulary
) -> Iterator[Iterable[Occurrences]]:
    """The teacher's stream, recorded on disk if it is read more than once."""
    settings, teacher = run.config.static, run.config.teacher
    units = corpus.paragraphs() if settings.unit == "paragraph" else corpus
    stream = encoder.occurrences(
        (unit.tokens for unit in units),
        vocabulary,
        context=settings.context,
        own_layers=settings.layers,
        tokens_per_batch=teacher.tokens_per_batch,
        sentences_total=len(corpus) if settings.unit == "sentence" else None,
    )
    if settings.epochs == 1:
        yield stream
        return
    with Recording(stream, run.vectors(language, "").parent / ".recording-static") as recording:
        yield recording
