"""Loading 200,000 x 300 vectors from text: ours against gensim's loader, same result required.

python -m benchmarks.load_vectors [rounds]
"""

import gc
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from gensim.models import KeyedVectors

from benchmarks.verdict import conclude
from x2s.vectors import WordVectors

WORDS, DIMENSION = 200_000, 300
REQUIRED = 4.0


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.vec"
        generate(path)
        print(f"{WORDS} x {DIMENSION}, {path.stat().st_size / 2**20:.0f} MiB of text")
        ours, theirs = [], []
        # In alternation, so that a machine that slows down slows both.
        for number in range(rounds):
            vectors, seconds = timed(lambda: WordVectors.from_word2vec(path, binary=False))
            ours.append(seconds)
            keyed, seconds = timed(lambda: KeyedVectors.load_word2vec_format(path))
            theirs.append(seconds)
            print(f"round {number + 1}: x2s {ours[-1]:.2f} s, gensim {theirs[-1]:.2f} s")
            same(vectors, keyed)
            del vectors, keyed
            gc.collect()
    conclude("load_vectors", median(theirs) / median(ours), REQUIRED)


def generate(path: Path) -> None:
    generator = np.random.default_rng(0)
    words = tuple(f"w\u00f6rd{number}" for number in range(WORDS))
    matrix = generator.normal(0, 0.3, (WORDS, DIMENSION)).astype(np.float32)
    WordVectors(words, matrix).to_word2vec(path)


def timed(load):  # type: ignore[no-untyped-def]
    start = perf_counter()
    result = load()
    return result, perf_counter() - start


def same(vectors: WordVectors, keyed: KeyedVectors) -> None:
    if tuple(keyed.index_to_key) != vectors.words:
        sys.exit("the words differ")
    if not np.array_equal(keyed.vectors.view(np.uint32), vectors.matrix.view(np.uint32)):
        sys.exit("the vectors differ")


if __name__ == "__main__":
    main()
