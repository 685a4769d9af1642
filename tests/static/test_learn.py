"""All methods from one stream."""

import numpy as np
import pytest
import torch

from x2s.contextual.occurrences import Occurrences
from x2s.corpus.vocabulary import Vocabulary
from x2s.errors import InputError
from x2s.static import METHODS, Aggregated, WhitenedContext, X2Static, combine, learn_static

DIMENSION = 6


def vocabulary(words: int) -> Vocabulary:
    return Vocabulary(tuple(f"w{row}" for row in range(words)), np.arange(words, 0, -1, dtype=np.int64))


def stream(words: int, batches: int = 5) -> list[Occurrences]:
    rng = torch.Generator().manual_seed(0)
    return [
        Occurrences(
            torch.randint(words, (60,), generator=rng),
            torch.arange(60) // 6 + 10 * number,
            torch.randn(60, DIMENSION, generator=rng),
            torch.randn(60, DIMENSION, generator=rng),
            {2: torch.randn(60, DIMENSION, generator=rng)},
        )
        for number in range(batches)
    ]


def test_all_methods_from_one_one_way_stream() -> None:
    batches = stream(15)
    found = learn_static(iter(batches), vocabulary(18), DIMENSION, "xx", layers=(2,), subsample=0)
    assert list(found) == [*METHODS, "aggregated_layer_2"]
    words = vocabulary(15).words
    assert all(vectors.words == words for vectors in found.values())

    alone = {
        "aggregated": Aggregated(vocabulary(18), DIMENSION, "xx"),
        "aggregated_layer_2": Aggregated(vocabulary(18), DIMENSION, "xx", 2),
        "whitened_context": WhitenedContext(vocabulary(18), DIMENSION, "xx"),
        "x2static": X2Static(vocabulary(18), DIMENSION, "xx", subsample=0),
    }
    for name, estimator in alone.items():
        for batch in batches:
            estimator.update(batch)
        assert np.array_equal(estimator.vectors().matrix, found[name].matrix)
    both = combine(found["aggregated"], found["whitened_context"])
    assert np.array_equal(both.matrix, found["combined"].matrix)


def test_only_what_is_asked_for_is_returned() -> None:
    assert list(learn_static(stream(9), vocabulary(9), DIMENSION, "xx", ("combined",))) == ["combined"]


def test_several_epochs_train_x2static_on_and_leave_the_rest() -> None:
    one, three = (
        learn_static(stream(15), vocabulary(15), DIMENSION, "xx", subsample=0, epochs=epochs) for epochs in (1, 3)
    )
    assert np.array_equal(one["combined"].matrix, three["combined"].matrix)
    assert not np.array_equal(one["x2static"].matrix, three["x2static"].matrix)


def test_words_that_x2static_skipped_are_kept_by_the_other_methods() -> None:
    # Keeps next to nothing, so that x2static misses words that the others have.
    found = learn_static(stream(15), vocabulary(15), DIMENSION, "xx", subsample=1e-6)
    assert 0 < len(found["x2static"]) < 15
    assert set(found["x2static"].words) < set(found["aggregated"].words)
    assert found["aggregated"].words == found["whitened_context"].words == found["combined"].words
    assert len(found["combined"]) == 15


def test_mistakes_are_explained() -> None:
    with pytest.raises(InputError, match="got glove"):
        learn_static(stream(3), vocabulary(3), DIMENSION, "xx", ("glove",))
    with pytest.raises(InputError, match="one-way stream"):
        learn_static(iter(stream(3)), vocabulary(3), DIMENSION, "xx", epochs=2)
    with pytest.raises(InputError, match="epochs: expected 1 or more"):
        learn_static(stream(3), vocabulary(3), DIMENSION, "xx", epochs=0)
    with pytest.raises(InputError, match="none of the 3 words"):
        learn_static([], vocabulary(3), DIMENSION, "xx")
