"""Many languages into one space."""

from collections.abc import Mapping as MappingOf
from collections.abc import Sequence
from typing import Any

from x2s.align.vecmap import VecMap
from x2s.errors import InputError
from x2s.vectors import WordVectors


def align_all(
    vectors: MappingOf[str, WordVectors],
    hub: str = "en",
    *,
    dictionaries: MappingOf[str, Sequence[tuple[str, str]]] | None = None,
    **settings: Any,
) -> dict[str, WordVectors]:
    """Map every language into the space of `hub`, whose own vectors come out as `normalise` leaves them.

    Args:
        vectors: By language; the order is kept.
        hub: The language whose space is the common one.
        dictionaries: By language, (word, hub word) pairs for the modes that take a dictionary.
        **settings: Of `VecMap`; its own `hub` is always "fixed", or the languages would not share a space.

    Raises:
        InputError: `hub` is not among the languages, or what `VecMap.fit` raises.
    """
    if hub not in vectors:
        raise InputError(f"hub: expected one of {', '.join(vectors) or 'no languages at all'}, got {hub!r}")
    vecmap = VecMap(**settings)
    target = vectors[hub]
    space: dict[str, WordVectors] = {}
    for language, source in vectors.items():
        if language == hub:
            continue
        mapping = vecmap.fit(source, target, (dictionaries or {}).get(language))
        space[language] = mapping(source)
    return {language: space[language] if language in space else vecmap.placed(target) for language in vectors}
