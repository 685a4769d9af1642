"""Bilingual lexicon induction: is a word's translation among its nearest neighbours in the other language?

Conneau et al. 2018, "Word translation without parallel data". Neighbours are sought in the complete vocabularies
given, CSLS means are taken over them, and any listed translation counts. Pairs with a word that has no vector are left
out, and a source word counts if one pair remains.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from x2s.errors import InputError
from x2s.evaluate.lexicons import Lexicon
from x2s.scores import ScoreRecord
from x2s.vectors import WordVectors, mean_similarity, nearest

Retrieval = Literal["csls", "nn"]
_EXAMPLES = 3


def evaluate_bli(
    source: WordVectors,
    target: WordVectors,
    lexicon: Lexicon,
    *,
    method_name: str,
    model: str,
    retrieval: Sequence[Retrieval] = ("csls", "nn"),
    ks: Sequence[int] = (1, 5, 10),
    csls_k: int = 10,
    seed: int | None = None,
) -> list[ScoreRecord]:
    """Precision at k from source to target, one record for each retrieval method and k.

    `value` is the accuracy on covered source words (MUSE's number), `coverage` their share of the lexicon's source
    words, `details["accuracy_oov_wrong"]` the accuracy with the others counted wrong. The lexicon is put in lower case
    on each side whose vectors are all lower case. For the other direction call again with the other lexicon.

    Args:
        source: Vectors of the lexicon's source language, in one space with the target's.
        target: Vectors of its target language.
        lexicon: What counts as right.
        method_name: For the records, e.g. "combined/aligned".
        model: For the records, e.g. the teacher's name.
        retrieval: "csls" and/or "nn" (cosine).
        ks: The k of precision@k.
        csls_k: Neighbours in CSLS's means.
        seed: For the records, where the vectors depend on one.

    Raises:
        InputError: Unequal dimensions, vectors of other languages than the lexicon's, or a lexicon none of whose pairs
            has vectors on both sides. Who evaluates many catches this and goes on.
    """
    _check_ranks(ks, retrieval)
    _check(source, target, lexicon)
    lexicon = lexicon.lowercased(source=_is_lowercase(source), target=_is_lowercase(target))
    listed, wanted = _covered(source, target, lexicon)
    queries = np.fromiter(wanted, dtype=np.int64)
    records = []
    for way in retrieval:
        ranks = _ranks(source, target, queries, wanted, way, max(ks), csls_k)
        for k in ks:
            right = int((ranks < k).sum())
            records.append(
                ScoreRecord(
                    task="bli",
                    metric=f"precision@{k}/{way}",
                    value=right / len(queries),
                    coverage=len(queries) / listed,
                    languages=(lexicon.source_language, lexicon.target_language),
                    model=model,
                    method=method_name,
                    data=lexicon.name,
                    data_revision=lexicon.revision,
                    seed=seed,
                    items=len(queries),
                    details={
                        "accuracy_oov_wrong": right / listed,
                        "source_words": listed,
                        "source_vocabulary": len(source),
                        "target_vocabulary": len(target),
                        **({"csls_k": csls_k} if way == "csls" else {}),
                    },
                )
            )
    return records


def _check_ranks(ks: Sequence[int], retrieval: Sequence[str]) -> None:
    if not ks or min(ks) < 1 or not retrieval:
        raise InputError(f"expected ranks of 1 or more and a way of retrieval, got ks={tuple(ks)}, {tuple(retrieval)}")


def _check(source: WordVectors, target: WordVectors, lexicon: Lexicon) -> None:
    if source.dimension != target.dimension:
        raise InputError(
            f"source and target vectors must have one dimension, got {source.dimension} and {target.dimension}; "
            "are they of one space?"
        )
    sides = ((source, lexicon.source_language, "source"), (target, lexicon.target_language, "target"))
    for vectors, language, side in sides:
        if language and vectors.language and language != vectors.language:
            raise InputError(
                f"the {side} vectors are of language {vectors.language!r}, but {lexicon.name} is for {language!r}; "
                "use lexicon.reversed() or the other vectors"
            )


def _is_lowercase(vectors: WordVectors) -> bool:
    return all(word == word.lower() for word in vectors.words)


def _covered(source: WordVectors, target: WordVectors, lexicon: Lexicon) -> tuple[int, dict[int, set[int]]]:
    """How many source words the lexicon has, and for those with vectors the rows of source word and translations."""
    translations = lexicon.translations()
    wanted: dict[int, set[int]] = {}
    for word, others in translations.items():
        rows = target.rows(others)
        if word in source and (rows >= 0).any():
            wanted[source.row(word)] = set(rows[rows >= 0].tolist())
    if not wanted:
        examples = ", ".join(f"{a} - {b}" for a, b in lexicon.pairs[:_EXAMPLES])
        raise InputError(
            f"{lexicon.name}: of its {len(lexicon)} pairs, none has vectors on both sides (e.g. {examples}). Are these "
            f"the vectors of {lexicon.source_language or 'its source'} ({len(source)} words) and "
            f"{lexicon.target_language or 'its target'} ({len(target)} words)?"
        )
    return len(translations), wanted


def _ranks(
    source: WordVectors,
    target: WordVectors,
    queries: np.ndarray,
    wanted: dict[int, set[int]],
    way: Retrieval,
    k: int,
    csls_k: int,
) -> np.ndarray:
    """Rank from 0 of the best-placed translation of each query, k where none is among the k nearest."""
    found = _neighbours(source, target, queries, way, k, csls_k)[0]
    ranks = np.full(len(queries), k)
    for number, (row, neighbours) in enumerate(zip(queries.tolist(), found.tolist(), strict=True)):
        ranks[number] = next((rank for rank, other in enumerate(neighbours) if other in wanted[row]), k)
    return ranks


def _neighbours(
    source: WordVectors, target: WordVectors, queries: np.ndarray, way: Retrieval, k: int, csls_k: int
) -> tuple[np.ndarray, np.ndarray]:
    if way == "nn":
        return nearest(source.matrix[queries], target.matrix, k)
    if way != "csls":
        raise InputError(f"retrieval must be 'csls' or 'nn', got {way!r}")
    # The means are over all source words, not just those asked for.
    hubness = mean_similarity(target.matrix, source.matrix, csls_k)
    return nearest(source.matrix[queries], target.matrix, k, method="csls", csls_k=csls_k, hubness=hubness)


def translate(
    word: str, source: WordVectors, target: WordVectors, k: int = 10, method: Retrieval = "csls"
) -> list[tuple[str, float]]:
    """The k most likely translations of a word with their CSLS scores ("nn": cosines), best first.

    Raises:
        InputError: The word has no vector, or the dimensions differ.
    """
    if word not in source:
        lower = word.lower()
        if lower not in source:
            raise InputError(f"{word!r} is not among the {len(source)} words with vectors; try another form of it")
        word = lower
    if source.dimension != target.dimension:
        raise InputError(f"vectors must have one dimension, got {source.dimension} and {target.dimension}")
    rows, scores = _neighbours(source, target, np.array([source.row(word)]), method, k, csls_k=10)
    return [(target.words[row], float(score)) for row, score in zip(rows[0], scores[0], strict=True) if row >= 0]
