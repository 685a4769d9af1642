"""Stage corpus: text of one language as sentences, tokens and a vocabulary."""

from x2s.config import FilesSource, HubSource
from x2s.corpus import build_corpus
from x2s.corpus.sources import FileSource, LibreOfficeHelp, Source
from x2s.corpus.sources import HubSource as Hub
from x2s.pipeline.declarations import Outcome
from x2s.pipeline.layout import Run
from x2s.pipeline.worker import cores


def run(run: Run, language: str | None) -> Outcome:
    """Read the source through segmentation, tokenisation and filters."""
    assert language is not None
    settings, folder = run.config.corpus, run.corpus(language)
    report = build_corpus(
        _source(run, language),
        language,
        folder,
        max_sentences=settings.max_sentences,
        sampling=settings.sampling,
        seed=run.config.seed,
        min_tokens=settings.min_tokens,
        max_tokens=settings.max_tokens,
        min_sentences_per_paragraph=settings.min_sentences_per_paragraph,
        deduplicate=settings.deduplicate,
        lowercase=settings.lowercase,
        min_count=settings.min_count,
        max_vocabulary=settings.max_vocabulary,
        processes=cores(),
        segmenter=settings.segmenter.get(language),
        tokenizer=settings.tokenizer.get(language),
    )
    return Outcome(
        [folder / name for name in ("sentences.parquet", "vocabulary.tsv", "corpus.json")],
        {
            "source": report.source,
            "revision": report.revision,
            "summary": f"{report.sentences:,} sentences, {report.tokens:,} tokens, {report.vocabulary_size:,} words",
        },
    )


def _source(run: Run, language: str) -> Source:
    source = run.config.corpus.source
    if isinstance(source, FilesSource):
        return FileSource(source.patterns(language), field=source.field, layout=source.layout)
    if isinstance(source, HubSource):
        return Hub(language, source.dataset, revision=source.revision, seed=run.config.seed)
    return LibreOfficeHelp(language, run.cache, unit=source.unit)
