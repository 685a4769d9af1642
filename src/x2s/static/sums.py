"""Per-word running sums, and the checks that the streaming estimators share."""

from collections.abc import Mapping

import numpy as np
import torch

from x2s.contextual.occurrences import Occurrences
from x2s.corpus.vocabulary import Vocabulary
from x2s.errors import InputError
from x2s.vectors import WordVectors


class WordSums:
    """Sum and number of the vectors of each word: the sufficient statistic of a mean, additive over shards.

    Sums are kept in float64, so that neither the order of the corpus nor the cut into shards matters beyond
    float32 resolution; adding to float64 directly costs no more than to float32 with a flush now and then (0.5% of
    a small teacher's forward pass).
    """

    def __init__(self, words: int, dimension: int) -> None:
        self.sums = torch.zeros(words, dimension, dtype=torch.float64)
        self.counts = torch.zeros(words, dtype=torch.int64)

    def add(self, word_ids: torch.Tensor, rows: torch.Tensor) -> None:
        """Add `rows` [n, d] to the words `word_ids` [n]."""
        self.sums.index_add_(0, word_ids, rows.double())
        self.counts += torch.bincount(word_ids, minlength=len(self.counts))

    def merge(self, other: "WordSums") -> None:
        """Add another shard's sums."""
        self.sums += other.sums
        self.counts += other.counts

    @property
    def seen(self) -> torch.Tensor:
        """[words] bool, whether a word occurred."""
        return self.counts > 0

    def means(self) -> torch.Tensor:
        """[words, d] float64; rows of words that never occurred are zero."""
        return self.sums / self.counts.clamp(min=1).unsqueeze(1)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Sums and counts."""
        return {"sums": self.sums.clone(), "counts": self.counts.clone()}

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Restore what `state_dict` gave."""
        restore(self.sums, state, "sums")
        restore(self.counts, state, "counts")


def restore(into: torch.Tensor, state: Mapping[str, torch.Tensor], name: str) -> None:
    """Copy `state[name]` into a tensor of the same shape.

    Raises:
        InputError: The state lacks `name` or has another shape: it belongs to another vocabulary or teacher.
    """
    found = state.get(name)
    if found is None or found.shape != into.shape:
        got = "nothing" if found is None else f"shape {tuple(found.shape)}"
        raise InputError(
            f"saved state: expected {name!r} of shape {tuple(into.shape)}, got {got}. "
            "It was saved for another vocabulary, teacher or method; start anew."
        )
    into.copy_(found)


def check_batch(batch: Occurrences, rows: torch.Tensor, vocabulary: Vocabulary, dimension: int) -> None:
    """Reject a batch of another dimension or vocabulary.

    Raises:
        InputError: Saying what was expected and what the batch holds.
    """
    if rows.ndim != 2 or rows.shape[1] != dimension:
        raise InputError(
            f"occurrences: expected vectors of dimension {dimension}, got shape {tuple(rows.shape)}. "
            "Use the teacher's own dimension (Encoder.dimension) for the estimator."
        )
    if len(batch) and not 0 <= int(batch.word_ids.min()) <= int(batch.word_ids.max()) < len(vocabulary):
        raise InputError(
            f"occurrences: expected word ids in [0, {len(vocabulary)}), got {int(batch.word_ids.min())} to "
            f"{int(batch.word_ids.max())}. Encode with the vocabulary that the estimator was made with."
        )


def check_mergeable(ours: Vocabulary, theirs: Vocabulary, dimension: int, other_dimension: int) -> None:
    """Reject shards that were learnt with another vocabulary or teacher.

    Raises:
        InputError: Saying which of the two differs.
    """
    if dimension != other_dimension:
        raise InputError(
            f"merge: expected dimension {dimension}, got {other_dimension}. Use one teacher for all shards."
        )
    if ours.words != theirs.words:
        raise InputError(
            f"merge: the shards have different vocabularies ({len(ours)} and {len(theirs)} words). "
            "Build one vocabulary over the whole corpus and use it for all shards."
        )


def seen_vectors(vocabulary: Vocabulary, seen: torch.Tensor, matrix: torch.Tensor, language: str) -> WordVectors:
    """The rows of `matrix` [words, d] whose words occurred, as float32 WordVectors with corpus counts.

    Raises:
        InputError: No word occurred, or a vector is not finite.
    """
    rows = seen.nonzero().squeeze(1).numpy()
    if not len(rows):
        raise InputError(
            f"{language}: none of the {len(vocabulary)} words of the vocabulary occurred in the encoded corpus, so "
            "there is nothing to learn from. Check that corpus and vocabulary belong together and are not empty."
        )
    kept = matrix.numpy()[rows].astype(np.float32)
    broken = ~np.isfinite(kept).all(axis=1)
    if broken.any():
        first = vocabulary.words[rows[int(broken.argmax())]]
        raise InputError(
            f"{language}: the vectors of {int(broken.sum())} words (the first is {first!r}) are not finite. "
            "The teacher overflowed: run it in bfloat16 or float32 instead of float16."
        )
    return WordVectors(
        tuple(vocabulary.words[row] for row in rows), kept, language, np.asarray(vocabulary.counts, np.int64)[rows]
    )
