"""Text, teacher pass and static vectors that the quality benchmarks share, kept for the next run.

They lie in the folder that X2S_BENCH_CACHE names (default ~/.cache/x2s/bench), under a key of everything that can
change them: settings, package versions, and the source text of the rooms that make them.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

from x2s.contextual import Encoder, Recording, offline_teacher
from x2s.corpus import FileSource, LibreOfficeHelp, SentenceFile, Source, Vocabulary, build_corpus
from x2s.files import whole
from x2s.static import METHODS, combine, learn_static
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
        build_corpus(source(language), language, folder, processes=os.cpu_count() or 1, **CORPUS)
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
        for path in sorted((ROOT / "src" / "x2s" / room).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


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
    paths = sorted(path.parent for path in folder.rglob("config.json"))
    return {path.relative_to(folder).as_posix(): WordVectors.load(path) for path in paths}


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
    with Recording(stream, scratch) as recording:

        def learn(methods: Iterable[str], **options: object) -> dict[str, WordVectors]:
            return learn_static(recording, vocabulary, encoder.dimension, language, tuple(methods), **options)  # type: ignore[arg-type]

        closed = learn([method for method in METHODS if method != "x2static"], layers=(7,) if variants else ())
        yield from closed.items()
        for seed in SEEDS:
            yield f"x2static/{seed}", learn(["x2static"], seed=seed, epochs=EPOCHS)["x2static"]
        if variants:
            yield from _variants(learn, closed)


def _variants(learn, closed: dict[str, WordVectors]) -> Iterator[tuple[str, WordVectors]]:  # type: ignore[no-untyped-def]
    for seed in SEEDS:
        yield f"x2static_1_epoch/{seed}", learn(["x2static"], seed=seed)["x2static"]
        fast = learn(["x2static"], seed=seed, epochs=EPOCHS, learning_rate=1e-2)["x2static"]
        yield f"x2static_lr_0.01/{seed}", fast
        yield f"aggregated_and_x2static_lr_0.01/{seed}", combine(closed["aggregated"], fast)
        started = learn(["x2static"], seed=seed, epochs=EPOCHS, start=closed["aggregated"])["x2static"]
        yield f"x2static_from_aggregated/{seed}", started
    for ridge in RIDGES:
        whitened = learn(["whitened_context"], ridge=ridge)["whitened_context"]
        yield f"whitened_context_ridge_{ridge:g}", whitened
        yield f"combined_ridge_{ridge:g}", combine(closed["aggregated"], whitened)
    yield "combined_by_sum", combine(closed["aggregated"], closed["whitened_context"], by="sum")
    yield "combined_two_layers", combine(closed["aggregated"], closed["aggregated_layer_7"], closed["whitened_context"])


def _common(found: Iterable[tuple[str, WordVectors]]) -> dict[str, WordVectors]:
    """Only the words that all have, so that scores are over the same test words."""
    by_name = dict(found)
    shared = set.intersection(*(set(vectors.words) for vectors in by_name.values()))
    kept = {}
    for name, vectors in by_name.items():
        words = [word for word in vectors.words if word in shared]
        kept[name] = vectors.take(vectors.rows(words))
    return kept
