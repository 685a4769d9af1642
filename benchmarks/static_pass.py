"""Text, teacher pass and static vectors that the quality benchmarks share, kept for the next run.

They lie in the folder that X2S_BENCH_CACHE names (default ~/.cache/x2s/bench), under a key of everything that can
change them: settings, package versions, and the source text of the rooms that make them.
"""

import functools
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from x2s.contextual import Encoder, Occurrences, Recording, offline_teacher
from x2s.corpus import FileSource, LibreOfficeHelp, SentenceFile, Source, Vocabulary, build_corpus
from x2s.files import whole
from x2s.static import Aggregated, Estimator, WhitenedContext, X2Static, combine
from x2s.vectors import WordVectors

ROOT = Path(__file__).parent.parent
LANGUAGES = ("en", "de", "fr", "es", "ru", "fi", "tr")
HUB = "en"
SEEDS = (0, 1, 2)
LAYER = 6
EPOCHS = 5
CORPUS = {"min_sentences_per_paragraph": 1, "min_tokens": 3, "min_count": 5}
"""Help text is mostly paragraphs of one sentence: the paper's filters, made for web text, would leave next to none."""
ROOMS = ("corpus", "contextual", "static")
RIDGES = (0.0, 0.01, 0.1, 1.0)


def cache() -> Path:
    """The folder that survives between runs."""
    return Path(os.environ.get("X2S_BENCH_CACHE") or Path.home() / ".cache" / "x2s" / "bench")


def teacher() -> Path:
    """The offline teacher, unpacked once."""
    return offline_teacher(cache() / "teacher")


def corpus(language: str) -> Path:
    """Folder of the corpus of one language."""
    folder = cache() / f"corpus-{key('corpus', **CORPUS)}" / language
    if not (folder / "corpus.json").exists():
        build_corpus(source(language), language, folder, processes=os.cpu_count() or 1, **CORPUS)  # type: ignore[arg-type]
    return folder


def source(language: str) -> Source:
    """LibreOffice's help from the Debian archive, or from text files where X2S_BENCH_TEXT names their folder."""
    text = os.environ.get("X2S_BENCH_TEXT")
    if text:
        return FileSource(Path(text) / f"{language}.txt", layout="lines")
    return LibreOfficeHelp(language, cache() / "debian")


def key(*rooms: str, **settings: object) -> str:
    """Digest of settings, of the packages that compute, and of the source text of rooms."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for package in ("torch", "transformers", "tokenizers", "numpy"):
        digest.update(f"{package} {version(package)}".encode())
    for room in rooms:
        digest.update(_source_of(room))
    return digest.hexdigest()[:12]


@functools.cache
def _source_of(room: str) -> bytes:
    """Digest of a room's source text as this process first saw it."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src" / "x2s" / room).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def static_vectors(language: str, variants: bool = False) -> dict[str, WordVectors]:
    """Vectors by `method`, or `method/seed` where random; all cover the same words.

    Args:
        language: One of `LANGUAGES`.
        variants: Also other hyper-parameters, layers and combinations.
    """
    settings = {"layer": LAYER, "epochs": EPOCHS, "seeds": SEEDS, "corpus": CORPUS, "variants": variants}
    folder = cache() / f"vectors-{key(*ROOMS, **settings)}" / language
    if not folder.exists():
        with whole(folder) as beside:
            found = _common(_learnt(language, beside / "recording", variants))
            for name, vectors in found.items():
                vectors.save(beside / name)
            (beside / "names.json").write_text(json.dumps(list(found)), encoding="utf-8")
    names = json.loads((folder / "names.json").read_text(encoding="utf-8"))
    return {name: WordVectors.load(folder / name) for name in names}


def _learnt(language: str, scratch: Path, variants: bool) -> Iterator[tuple[str, WordVectors]]:
    encoder = Encoder(teacher(), LAYER)
    folder = corpus(language)
    vocabulary = Vocabulary.load(folder / "vocabulary.tsv")
    sentences = SentenceFile(folder / "sentences.parquet")
    stream = encoder.occurrences(
        (sentence.tokens for sentence in sentences),
        vocabulary,
        own_layers=(7,) if variants else (),
        sentences_total=len(sentences),
    )
    dimension = encoder.dimension

    def sgd(**options: Any) -> dict[int, X2Static]:
        return {seed: X2Static(vocabulary, dimension, language, seed=seed, **options) for seed in SEEDS}

    closed: dict[str, Estimator] = {
        "aggregated": Aggregated(vocabulary, dimension, language),
        "whitened_context": WhitenedContext(vocabulary, dimension, language),
    }
    if variants:
        closed |= {"aggregated_layer_7": Aggregated(vocabulary, dimension, language, 7)}
        closed |= {f"whitened_context_ridge_{r:g}": WhitenedContext(vocabulary, dimension, language, r) for r in RIDGES}
    with Recording(stream, scratch) as recording:
        random = {"x2static": sgd()} | ({"x2static_lr_0.01": sgd(learning_rate=1e-2)} if variants else {})
        _epoch(recording, [*closed.values(), *_all(random)])
        found = {name: estimator.vectors() for name, estimator in closed.items()}
        aggregated = found["aggregated"]
        if variants:
            yield from ((f"x2static_1_epoch/{seed}", each.vectors()) for seed, each in random["x2static"].items())
            started = sgd(start=aggregated)
            _epoch(recording, started.values())
            random["x2static_from_aggregated"] = started
        for _ in range(EPOCHS - 1):
            _epoch(recording, _all(random))
    yield from found.items()
    for name, seeds in random.items():
        yield from ((f"{name}/{seed}", each.vectors()) for seed, each in seeds.items())
    yield "combined", combine(aggregated, found["whitened_context"])
    if variants:
        yield "combined_by_sum", combine(aggregated, found["whitened_context"], by="sum")
        yield "combined_layers_6_and_7", combine(*(found[name] for name in list(closed)[:3]))
        for ridge in RIDGES:
            yield f"combined_ridge_{ridge:g}", combine(aggregated, found[f"whitened_context_ridge_{ridge:g}"])
        for name in ("x2static", "x2static_lr_0.01", "x2static_from_aggregated"):
            for seed, each in random[name].items():
                yield f"aggregated_and_{name}/{seed}", combine(aggregated, each.vectors())


def _all(random: dict[str, dict[int, X2Static]]) -> list[X2Static]:
    return [each for seeds in random.values() for each in seeds.values()]


def _epoch(batches: Iterable[Occurrences], estimators: Iterable[Estimator]) -> None:
    estimators = list(estimators)
    for batch in batches:
        for estimator in estimators:
            estimator.update(batch)
    for estimator in estimators:
        if isinstance(estimator, X2Static):
            estimator.flush()


def _common(found: Iterable[tuple[str, WordVectors]]) -> dict[str, WordVectors]:
    """Only the words that all have, so that scores are over the same test words."""
    by_name = dict(found)
    shared = set.intersection(*(set(vectors.words) for vectors in by_name.values()))
    kept = {}
    for name, vectors in by_name.items():
        words = [word for word in vectors.words if word in shared]
        kept[name] = vectors.take(vectors.rows(words))
    return kept
