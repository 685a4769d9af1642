"""From a source to a corpus: sentences, vocabulary and a report of what was dropped."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal, NamedTuple

import numpy as np

from x2s import progress
from x2s.corpus.filters import Cut, Filters
from x2s.corpus.parallel import ordered_map
from x2s.corpus.report import DROPPED, CorpusReport, check_sentences, check_vocabulary
from x2s.corpus.segmentation import sentence_splitter
from x2s.corpus.sentences import Sentence, write_sentences
from x2s.corpus.shuffle import Candidate, Sample, digest, priority
from x2s.corpus.sources import Measured, Selective, Source
from x2s.corpus.tokenisation import word_tokenizer
from x2s.corpus.vocabulary import Vocabulary
from x2s.errors import InputError
from x2s.files import explained
from x2s.languages import Language, get_language

SENTENCES, VOCABULARY, REPORT = "sentences.parquet", "vocabulary.tsv", "corpus.json"
_CHUNK_PARAGRAPHS = 64
_CHUNK_CHARACTERS = 1 << 15
_SEPARATOR = "\x1f"  # between a sentence and its tokens in the spill; `normalise` removes it from all text


class _Chunk(NamedTuple):
    """Consecutive paragraphs, and the sample's threshold when they were sent to be cut."""

    first: int
    paragraphs: list[str]
    threshold: int


class _Harvest(NamedTuple):
    """What a chunk gave."""

    candidates: list[Candidate]
    counts: Counter[str]


@dataclass(frozen=True)
class _Cutter:
    """Cuts chunks in worker processes."""

    filters: Filters
    split: Cut
    tokenize: Cut
    seed: int

    def __call__(self, chunk: _Chunk) -> _Harvest:
        counts: Counter[str] = Counter(paragraphs_read=len(chunk.paragraphs))
        candidates = []
        for number, paragraph in enumerate(chunk.paragraphs, start=chunk.first):
            place = priority(paragraph, self.seed)
            if place > chunk.threshold:
                counts["paragraphs_passed_over"] += 1
                continue
            found = self.filters.sentences(paragraph, self.split, self.tokenize, counts)
            if found:
                texts = [text.encode("utf-8") for text, _ in found]
                packed = (_SEPARATOR.join((text, *tokens)).encode("utf-8") for text, tokens in found)
                candidates.append(Candidate(place, number, tuple(map(digest, texts)), tuple(packed)))
        return _Harvest(candidates, counts)


def build_corpus(
    source: Source,
    language: Language | str,
    folder: str | Path,
    *,
    max_sentences: int = 1_000_000,
    sampling: Literal["auto", "all", "first"] = "auto",
    seed: int = 0,
    min_tokens: int = 7,
    max_tokens: int = 512,
    min_sentences_per_paragraph: int = 2,
    deduplicate: bool = True,
    lowercase: bool = True,
    min_count: int = 10,
    max_vocabulary: int = 200_000,
    processes: int = 1,
    segmenter: str | None = None,
    tokenizer: str | None = None,
) -> CorpusReport:
    """Write `sentences.parquet`, `vocabulary.tsv` and `corpus.json` to `folder`, each whole or not at all.

    The text is normalised (`filters.normalise`), cut, filtered (`filters.Filters`), sampled and shuffled by paragraphs
    (`shuffle.Sample`). The same source, options and seed give the same bytes, whatever `processes`. Memory depends on
    `max_sentences` and the vocabulary, not on the size of the source.

    Args:
        source: Where paragraphs come from.
        language: Chooses segmenter and tokenizer; a `Language` or its code.
        folder: Created if need be; of what is in it only the three files are replaced.
        max_sentences: At most so many sentences are kept.
        sampling: "all" reads the whole source and keeps a uniform sample of its paragraphs; "first" stops reading once
            `max_sentences` are found; "auto" is "all" for text that lies on this machine, "first" for a stream.
        seed: Decides sample and order.
        min_tokens, max_tokens, min_sentences_per_paragraph: See `filters.Filters`.
        deduplicate: Whether equal sentences are kept once.
        lowercase: Whether the vocabulary is of lower-cased tokens. Sentences are stored as they are.
        min_count: Fewest occurrences of a word in the vocabulary.
        max_vocabulary: At most so many words, the most frequent ones.
        processes: Processes that cut text.
        segmenter, tokenizer: Tools other than the language's own; see `segmentation` and `tokenisation`.

    Raises:
        InputError: Impossible options, unreadable text, no sentence left, or an empty vocabulary.
        UnavailableError: The source is out of reach, the disk is full, or the folder cannot be written.
    """
    language = get_language(language) if isinstance(language, str) else language
    for name, value in (
        ("max_sentences", max_sentences), ("min_count", min_count), ("max_vocabulary", max_vocabulary)
    ):  # fmt: skip
        if value < 1:
            raise InputError(f"{name}: expected at least 1, got {value}.")
    if sampling == "auto":
        sampling = "all" if isinstance(source, Measured) else "first"
    filters = Filters(min_tokens, max_tokens, min_sentences_per_paragraph)
    cutter = _Cutter(filters, sentence_splitter(language, segmenter), word_tokenizer(language, tokenizer), seed)
    options: dict[str, int | bool | str] = {
        "max_sentences": max_sentences, "sampling": sampling, "min_tokens": min_tokens, "max_tokens": max_tokens,
        "min_sentences_per_paragraph": min_sentences_per_paragraph, "deduplicate": deduplicate,
        "lowercase": lowercase, "min_count": min_count, "max_vocabulary": max_vocabulary,
    }  # fmt: skip
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder, prefix=".spill-") as spill:
            sample = Sample(max_sentences, spill, deduplicate)
            counts = _fill(sample, source, cutter, processes, f"corpus {language.code}", stop=sampling == "first")
            dropped = {reason: counts[reason] for reason in DROPPED}
            check_sentences(source.name, counts["paragraphs_read"], counts["sentences_read"], dropped, options)
            tally = _Tally(lowercase)
            (folder / REPORT).unlink(missing_ok=True)  # never the report of one corpus beside the sentences of another
            stored = progress.track(_stored(sample), f"store corpus {language.code}", sample.size, "sentences")
            written = write_sentences(folder / SENTENCES, tally.counted(stored))
    except OSError as error:
        raise explained(error, folder) from error
    check_vocabulary(source.name, written, tally.words, min_count)
    vocabulary = Vocabulary.from_counts(tally.words, min_count, max_vocabulary, lowercase)
    vocabulary.save(folder / VOCABULARY)
    report = CorpusReport(
        language=language.code,
        source=source.name,
        revision=source.revision,
        licence=source.licence,
        tools={"segmenter": segmenter or language.segmenter, "tokenizer": tokenizer or language.tokenizer},
        options=options,
        seed=seed,
        left_out=dict(source.left_out) if isinstance(source, Selective) else {},
        paragraphs_read=counts["paragraphs_read"],
        paragraphs_passed_over=counts["paragraphs_passed_over"],
        sentences_read=counts["sentences_read"],
        dropped=dropped | {"not_sampled": counts["sentences_read"] - written - sum(dropped.values())},
        paragraphs=tally.paragraphs,
        sentences=written,
        tokens=tally.tokens,
        distinct_words=len(tally.words),
        vocabulary_size=len(vocabulary),
        vocabulary_coverage=float(np.sum(vocabulary.counts)) / tally.tokens,
    )
    report.save(folder / REPORT)
    return report


def _fill(sample: Sample, source: Source, cutter: _Cutter, processes: int, what: str, *, stop: bool) -> Counter[str]:
    """Read the source into the sample; returns all counts."""
    counts: Counter[str] = Counter()
    sent = 0

    def chunks() -> Iterator[_Chunk]:
        nonlocal sent
        for texts in _chunked(source.paragraphs()):
            yield _Chunk(sent, texts, sample.threshold)
            sent += len(texts)

    running = progress.start(what, sample.capacity if stop else None, "sentences" if stop else "paragraphs")
    with closing(ordered_map(cutter, chunks(), processes)) as harvests:
        for harvest in harvests:
            before = sample.size
            counts.update(harvest.counts)
            for candidate in harvest.candidates:
                sample.offer(candidate)
            kept = min(sample.size, sample.capacity)
            if stop:
                running.advance(kept - before)
                if sample.full:
                    break
            else:
                fraction = source.fraction_read if isinstance(source, Measured) else 0.0
                running.total = max(sent, round(sent / fraction)) if fraction > 0 else None
                running.advance(harvest.counts["paragraphs_read"], f"{kept:,} sentences kept")
    counts["duplicate"] = sample.duplicates
    counts["not_sampled"] = 0  # known after the last paragraph has been cut to size
    return counts


def _chunked(paragraphs: Iterable[str]) -> Iterator[list[str]]:
    """Lists of consecutive paragraphs of about equal work."""
    chunk: list[str] = []
    size = 0
    for paragraph in paragraphs:
        chunk.append(paragraph)
        size += len(paragraph)
        if len(chunk) >= _CHUNK_PARAGRAPHS or size >= _CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _stored(sample: Sample) -> Iterator[Sentence]:
    for number, sentences in sample.drain():
        for packed in sentences:
            text, *tokens = packed.decode("utf-8").split(_SEPARATOR)
            yield Sentence(number, text, tuple(tokens))


class _Tally:
    """Counts what passes by."""

    def __init__(self, lowercase: bool) -> None:
        self.words: dict[str, int] = {}
        self.tokens = 0
        self.paragraphs = 0
        self._lowercase = lowercase

    def counted(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        last = None
        words = self.words
        for sentence in sentences:
            self.paragraphs += sentence.paragraph != last
            last = sentence.paragraph
            self.tokens += len(sentence.tokens)
            for token in sentence.tokens:
                word = token.lower() if self._lowercase else token
                words[word] = words.get(word, 0) + 1
            yield sentence


__all__ = ["REPORT", "SENTENCES", "VOCABULARY", "CorpusReport", "build_corpus"]
