"""Seed dictionaries: pairs of words turned into pairs of rows."""

from collections.abc import Iterable

import torch
from torch import Tensor

from x2s.align.induction import Induction
from x2s.errors import InputError
from x2s.vectors import WordVectors
from x2s.vectors.normalisation import normalise

Pairs = list[tuple[str, str]]


def identical_words(source: WordVectors, target: WordVectors) -> Pairs:
    """Words spelt alike in both vocabularies, by falling source frequency: numerals, names, loans."""
    return [(word, word) for word in source.words if word in target]


def mutual_neighbours(
    source: WordVectors, target: WordVectors, limit: int = 20_000, *, neighbourhood: int = 10
) -> Pairs:
    """Words that are each other's CSLS neighbour as they stand: a seed where one teacher made both languages' vectors.

    Args:
        source: Vectors of one language.
        target: Vectors of the other, in coordinates that mean the same.
        limit: How many of the most frequent words of each side take part.
        neighbourhood: k of CSLS.

    Raises:
        InputError: The dimensions differ.
    """
    check_dimensions(source, target)
    x, z = (torch.from_numpy(normalise(side.matrix)[:limit]) for side in (source, target))
    induced = Induction(len(x), len(z), neighbourhood)(x, z)
    rows = induced.mutual()
    return [
        (source.words[row], target.words[column])
        for row, column in zip(rows.tolist(), induced.forward[rows].tolist(), strict=True)
    ]


def dictionary_rows(
    source: WordVectors, target: WordVectors, dictionary: Iterable[tuple[str, str]]
) -> tuple[Tensor, Tensor]:
    """Source rows and target rows [p] int64 of the pairs that have both words.

    Raises:
        InputError: No pair has both words; the message counts what was found.
    """
    pairs = list(dictionary)
    source_rows = source.rows(word for word, _ in pairs)
    target_rows = target.rows(word for _, word in pairs)
    both = (source_rows >= 0) & (target_rows >= 0)
    if not both.any():
        raise InputError(
            f"dictionary {_name(source, 'source')}-{_name(target, 'target')}: none of its {len(pairs)} pairs has both "
            f"words in the vocabularies ({int((source_rows >= 0).sum())} source words and "
            f"{int((target_rows >= 0).sum())} target words were found among {len(source)} and {len(target)}). "
            "Check its direction and whether it is lower-cased like the vectors."
        )
    return torch.from_numpy(source_rows[both]), torch.from_numpy(target_rows[both])


def check_dimensions(source: WordVectors, target: WordVectors) -> None:
    """Raise InputError, naming both, if the vectors differ in dimension."""
    if source.dimension != target.dimension:
        raise InputError(
            f"the {_name(source, 'source')} vectors have {source.dimension} dimensions and the "
            f"{_name(target, 'target')} vectors {target.dimension}: alignment needs the same number on both sides. "
            "Use vectors of one method and one teacher."
        )


def _name(vectors: WordVectors, otherwise: str) -> str:
    return vectors.language or otherwise
