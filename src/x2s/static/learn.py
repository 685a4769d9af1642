"""All static methods from one pass over the teacher's occurrences."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, Self

import torch

from x2s.contextual.occurrences import Occurrences
from x2s.corpus.vocabulary import Vocabulary
from x2s.errors import InputError
from x2s.static.aggregated import Aggregated
from x2s.static.combined import combine
from x2s.static.whitened_context import WhitenedContext
from x2s.static.x2static import X2Static
from x2s.vectors import WordVectors

METHODS = ("aggregated", "x2static", "whitened_context", "combined")
_PARTS_OF_COMBINED = ("aggregated", "whitened_context")


class Estimator(Protocol):
    """What the streaming methods have in common: running state, and vectors of the words seen so far."""

    def update(self, batch: Occurrences) -> None:
        """Add a batch of occurrences."""

    def merge(self, other: Self) -> None:
        """Add what another shard gave."""

    def vectors(self) -> WordVectors:
        """Vectors of the words seen so far."""

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All running state, as tensors."""

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Go on from a saved state."""


def learn_static(
    batches: Iterable[Occurrences],
    vocabulary: Vocabulary,
    dimension: int,
    language: str,
    methods: Sequence[str] = METHODS,
    *,
    layers: Sequence[int] = (),
    ridge: float = 0.03,
    epochs: int = 1,
    learning_rate: float = 1e-3,
    negatives: int = 10,
    subsample: float = 5e-6,
    seed: int = 0,
    start: WordVectors | None = None,
) -> dict[str, WordVectors]:
    """Learn the named methods from one stream.

    Results cover the words that occurred. `x2static` lacks those whose every occurrence its sub-sampling skipped, which
    happens in small corpora.

    Sentence or paragraph contexts are the stream's choice: encode `SentenceFile.paragraphs()` for the latter.

    Args:
        batches: The teacher's occurrences. With `epochs` > 1 something that can be iterated again, such as a
            `contextual.Recording`.
        vocabulary: The words that the stream was encoded with.
        dimension: d of the teacher.
        language: Code recorded in the vectors.
        methods: Of `METHODS`. `combined` concatenates `aggregated` and `whitened_context`, so has 2 d dimensions.
        layers: Further layers to aggregate, results named `aggregated_layer_N`; the stream must carry them.
        ridge: See `WhitenedContext`.
        epochs: Passes of `x2static`; the other methods use the first pass only.
        learning_rate: See `X2Static`, as `negatives`, `subsample`, `seed` and `start`.

    Returns:
        Vectors by method, in the order asked for.

    Raises:
        InputError: Unknown method, a stream that cannot be iterated again, or one that has no word.
    """
    unknown = [method for method in methods if method not in METHODS]
    if unknown:
        raise InputError(f"methods: expected some of {', '.join(METHODS)}, got {', '.join(unknown)}")
    if epochs < 1:
        raise InputError(f"epochs: expected 1 or more, got {epochs}")
    if epochs > 1 and iter(batches) is batches:
        raise InputError(
            f"epochs: {epochs} passes need batches that can be iterated again, got a one-way stream. "
            "Record them first (x2s.contextual.Recording)."
        )
    needed = {*methods, *(_PARTS_OF_COMBINED if "combined" in methods else ())}
    estimators: dict[str, Estimator] = {}
    if "aggregated" in needed:
        estimators["aggregated"] = Aggregated(vocabulary, dimension, language)
    for layer in layers:
        estimators[f"aggregated_layer_{layer}"] = Aggregated(vocabulary, dimension, language, layer)
    if "whitened_context" in needed:
        estimators["whitened_context"] = WhitenedContext(vocabulary, dimension, language, ridge)
    if "x2static" in needed:
        estimators["x2static"] = X2Static(
            vocabulary, dimension, language, learning_rate, negatives, subsample, seed, start
        )
    _run(batches, estimators, epochs)
    found = {name: estimator.vectors() for name, estimator in estimators.items()}
    if "combined" in methods:
        found["combined"] = combine(*(found[name] for name in _PARTS_OF_COMBINED))
    asked_for = [*methods, *(f"aggregated_layer_{layer}" for layer in layers)]
    return {name: found[name] for name in asked_for}


def _run(batches: Iterable[Occurrences], estimators: Mapping[str, Estimator], epochs: int) -> None:
    for batch in batches:
        for estimator in estimators.values():
            estimator.update(batch)
    sgd = estimators.get("x2static")
    if not isinstance(sgd, X2Static):
        return
    sgd.flush()
    for _ in range(epochs - 1):
        for batch in batches:
            sgd.update(batch)
        sgd.flush()
