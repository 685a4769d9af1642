"""X2Static: static vectors that predict words from contextual vectors of their contexts, by negative sampling."""

from collections.abc import Mapping

import numpy as np
import torch

from x2s.contextual.occurrences import Occurrences
from x2s.corpus.vocabulary import Vocabulary
from x2s.errors import InputError
from x2s.static.sparse_adam import SparseAdam, logistic_gradient
from x2s.static.sums import check_batch, check_mergeable, restore, seen_vectors
from x2s.vectors import WordVectors
from x2s.vectors.normalisation import normalise

SENTENCES_PER_BATCH = 128


class X2Static:
    """Logistic loss on the dot product of a context vector and the static vector of its target word.

        L = mean over targets t of [ -log s(c_t . v_t) ] + sum over k of mean over t of [ -log s(-c_t . v_n(t,k)) ]

    with s the logistic function of the score clamped to +-20, and n(t,k) negatives drawn with p ~ sqrt(count), never
    the target itself. An occurrence of a word of frequency f is a target with probability sqrt(T/f) + T/f. Sparse
    Adam takes one step per 128 sentences, however the encoder has batched them. Gupta and Jaggi, "Obtaining Better
    Static Word Embeddings Using Contextual Embedding Models", ACL 2021, with the hyper-parameters of Hämmerl, Libovický
    and Fraser, Findings of ACL 2022.

    A straight run, and one that was saved and resumed anywhere, give the same bits.

    Args:
        vocabulary: The words that get vectors; its counts give frequencies and negatives.
        dimension: d of the teacher.
        language: Code recorded in the vectors.
        learning_rate: Of sparse Adam.
        negatives: K, negatives per target.
        subsample: T; 0 or less trains on every occurrence.
        seed: Of initial vectors, sub-sampling and negatives.
        start: Initial vectors of the words that it has, `aggregated` say, instead of small random ones. They are
            normalised first (unit, centre, unit): as a teacher leaves them, most scores would be near or beyond the
            clamp, where little or nothing is learnt.

    Raises:
        InputError: Fewer than two words, a bad hyper-parameter, or `start` of another dimension.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        dimension: int,
        language: str,
        learning_rate: float = 1e-3,
        negatives: int = 10,
        subsample: float = 5e-6,
        seed: int = 0,
        start: WordVectors | None = None,
    ) -> None:
        counts = torch.from_numpy(np.asarray(vocabulary.counts, dtype=np.float64))
        if int((counts > 0).sum()) < 2:
            raise InputError(
                f"x2static: expected a vocabulary of at least 2 words to draw negatives from, got {len(counts)}. "
                "Use more text or a lower min_count, or another method."
            )
        if negatives < 1 or not learning_rate > 0:
            raise InputError(
                f"x2static: expected negatives >= 1 and learning_rate > 0, got {negatives} and {learning_rate}"
            )
        self.vocabulary = vocabulary
        self.dimension = dimension
        self.language = language
        self.negatives = negatives
        self._generator = torch.Generator().manual_seed(seed)
        self._keep = keep_probabilities(counts, subsample)
        self._cumulative = counts.sqrt().cumsum(0)
        self._table = SparseAdam(self._initial(start), learning_rate)
        self._trained = torch.zeros(len(counts), dtype=torch.int64)
        self._pending = _SentenceQueue(dimension)

    def update(self, batch: Occurrences) -> None:
        """Queue a batch, and take a step for each 128 sentences complete. A sentence's occurrences follow each other.

        Raises:
            InputError: The batch is of another dimension or vocabulary.
        """
        check_batch(batch, batch.context, self.vocabulary, self.dimension)
        self._pending.add(batch.sentence_ids, batch.word_ids, batch.context)
        while (full := self._pending.take(SENTENCES_PER_BATCH)) is not None:
            self._step(*full)

    def flush(self) -> None:
        """Train on the sentences still queued, as at the end of an epoch."""
        for rest in self._pending.take_all(SENTENCES_PER_BATCH):
            self._step(*rest)

    def vectors(self) -> WordVectors:
        """Vectors of the words that were a target at least once, most frequent first; flushes the queue first.

        Raises:
            InputError: No word was seen, or the teacher's vectors are not finite.
        """
        self.flush()
        return seen_vectors(self.vocabulary, self._trained > 0, self._table.table, self.language)

    @property
    def losses(self) -> list[float]:
        """Loss of each step so far, before that step's update."""
        return list(self._table.losses)

    def merge(self, other: "X2Static") -> None:
        """Average with what another shard gave, each word weighted by how often it was a target there.

        Unlike the sums of the closed-form methods this is not what a single pass would give: SGD is not additive.

        Raises:
            InputError: The other has another vocabulary or dimension.
        """
        check_mergeable(self.vocabulary, other.vocabulary, self.dimension, other.dimension)
        self.flush()
        other.flush()
        both = self._trained + other._trained
        weight = torch.where(both > 0, other._trained / both.clamp(min=1), 0.5).float().unsqueeze(1)
        self._table.average(other._table, weight)
        self._trained += other._trained

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All that `update` changes, random state and queued sentences included, as tensors."""
        return {
            **self._table.state_dict(),
            **self._pending.state_dict(),
            "trained": self._trained.clone(),
            "generator": self._generator.get_state(),
        }

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Go on from a saved state.

        Raises:
            InputError: It belongs to another vocabulary, dimension or method.
        """
        self._table.load_state_dict(state)
        self._pending.load_state_dict(state)
        restore(self._trained, state, "trained")
        generator_state = self._generator.get_state()
        restore(generator_state, state, "generator")
        self._generator.set_state(generator_state)

    def _initial(self, start: WordVectors | None) -> torch.Tensor:
        words = len(self.vocabulary)
        table = (torch.rand(words, self.dimension, generator=self._generator) * 2 - 1) / self.dimension
        if start is not None:
            if start.dimension != self.dimension:
                raise InputError(
                    f"start: expected vectors of dimension {self.dimension}, got {start.dimension}. "
                    "Start from vectors of the same teacher."
                )
            rows = torch.from_numpy(start.rows(self.vocabulary.words))
            found = rows >= 0
            table[found] = torch.from_numpy(normalise(start.matrix))[rows[found]]
        return table

    def _step(self, word_ids: torch.Tensor, contexts: torch.Tensor) -> None:
        # Random numbers are drawn here and not on arrival, so that they do not depend on the encoder's batches.
        luck = torch.rand(len(word_ids), generator=self._generator, dtype=torch.float64)
        kept = luck < self._keep[word_ids]
        targets, contexts = word_ids[kept], contexts[kept]
        if not len(targets):
            return
        negatives = draw_negatives(self._cumulative, targets, self.negatives, self._generator)
        self._table.step(*logistic_gradient(self._table.table, targets, negatives, contexts))
        self._trained += torch.bincount(targets, minlength=len(self._trained))


def keep_probabilities(counts: torch.Tensor, subsample: float) -> torch.Tensor:
    """sqrt(T/f) + T/f of each word, at most 1 ([V] float64); all 1 if `subsample` is not positive."""
    if subsample <= 0:
        return torch.ones_like(counts)
    ratio = subsample * counts.sum() / counts.clamp(min=1)
    return (ratio.sqrt() + ratio).clamp(max=1)


def draw_negatives(
    cumulative: torch.Tensor, targets: torch.Tensor, number: int, generator: torch.Generator
) -> torch.Tensor:
    """Draw `number` words for each target ([n, number] int64), never the target itself.

    The distribution is the given one conditioned on not being the target: a point on the line of all weights with
    the target's interval cut out, so nothing has to be rejected and drawn again.

    Args:
        cumulative: [V] float64, running sums of the words' weights.
        targets: [n] int64.
        number: Negatives per target.
        generator: Source of randomness.
    """
    column = targets.unsqueeze(1)
    end = cumulative[column]
    begin = torch.where(column > 0, cumulative[(column - 1).clamp(min=0)], 0.0)
    weight = end - begin
    point = torch.rand(len(targets), number, generator=generator, dtype=torch.float64) * (cumulative[-1] - weight)
    point = torch.where(point >= begin, point + weight, point)
    drawn = torch.searchsorted(cumulative, point, right=True).clamp_(max=len(cumulative) - 1)
    # Rounding at an interval's edge may still hit the target: its neighbour is as likely as rounding is small.
    return torch.where(drawn == column, (column + 1) % len(cumulative), drawn)


class _SentenceQueue:
    """Occurrences in order of arrival, taken out by whole sentences."""

    def __init__(self, dimension: int) -> None:
        self._sentence_ids = torch.empty(0, dtype=torch.int64)
        self._word_ids = torch.empty(0, dtype=torch.int64)
        self._contexts = torch.empty(0, dimension)

    def add(self, sentence_ids: torch.Tensor, word_ids: torch.Tensor, contexts: torch.Tensor) -> None:
        self._sentence_ids = torch.cat([self._sentence_ids, sentence_ids])
        self._word_ids = torch.cat([self._word_ids, word_ids])
        self._contexts = torch.cat([self._contexts, contexts])

    def take(self, sentences: int) -> tuple[torch.Tensor, torch.Tensor] | None:
        """The first `sentences` sentences if they are complete, that is if a further one has begun."""
        begins = (self._sentence_ids.diff() != 0).nonzero().squeeze(1) + 1
        return self._cut(int(begins[sentences - 1])) if len(begins) >= sentences else None

    def take_all(self, sentences: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Everything, in batches of at most `sentences` sentences."""
        batches = []
        while (full := self.take(sentences)) is not None:
            batches.append(full)
        if len(self._word_ids):
            batches.append(self._cut(len(self._word_ids)))
        return batches

    def _cut(self, end: int) -> tuple[torch.Tensor, torch.Tensor]:
        taken = self._word_ids[:end], self._contexts[:end]
        self._sentence_ids, self._word_ids = self._sentence_ids[end:], self._word_ids[end:]
        self._contexts = self._contexts[end:]
        return taken

    def state_dict(self) -> dict[str, torch.Tensor]:
        return {
            "queued_sentences": self._sentence_ids.clone(),
            "queued_words": self._word_ids.clone(),
            "queued_contexts": self._contexts.clone(),
        }

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        length = len(state["queued_words"]) if "queued_words" in state else 0
        self._sentence_ids = torch.empty(length, dtype=torch.int64)
        self._word_ids = torch.empty(length, dtype=torch.int64)
        self._contexts = torch.empty(length, self._contexts.shape[1])
        restore(self._sentence_ids, state, "queued_sentences")
        restore(self._word_ids, state, "queued_words")
        restore(self._contexts, state, "queued_contexts")
