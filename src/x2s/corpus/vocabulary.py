"""Vocabulary: the words of one language that get vectors, with their corpus counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from x2s.errors import FileFormatError
from x2s.files import whole


@dataclass(frozen=True)
class Vocabulary:
    """Words by falling count (ties by code point), each with its number of occurrences in the corpus.

    `lowercase` records whether tokens were lower-cased before counting, so that later look-ups do the same.
    """

    words: tuple[str, ...]
    counts: np.ndarray
    lowercase: bool = True
    _index: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.words) != len(self.counts):
            raise ValueError(f"{len(self.words)} words but {len(self.counts)} counts")
        object.__setattr__(self, "_index", {word: row for row, word in enumerate(self.words)})

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Row of each token, -1 where it is not in the vocabulary."""
        find = self._index.get
        if self.lowercase:
            return [find(token.lower(), -1) for token in tokens]
        return [find(token, -1) for token in tokens]

    @classmethod
    def from_counts(
        cls, counts: dict[str, int], min_count: int = 10, max_size: int | None = 200_000, lowercase: bool = True
    ) -> Self:
        """Keep words with at least `min_count` occurrences, the `max_size` most frequent of them."""
        kept = sorted((item for item in counts.items() if item[1] >= min_count), key=lambda item: (-item[1], item[0]))
        kept = kept[:max_size]
        return cls(tuple(word for word, _ in kept), np.array([count for _, count in kept], dtype=np.int64), lowercase)

    def save(self, path: str | Path) -> None:
        """Write `word<TAB>count` lines, preceded by one comment line that records `lowercase`."""
        with whole(path) as beside, beside.open("w", encoding="utf-8", newline="\n") as file:
            file.write(f"# lowercase={str(self.lowercase).lower()}\n")
            file.writelines(f"{word}\t{count}\n" for word, count in zip(self.words, self.counts, strict=True))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote.

        Raises:
            FileFormatError: Naming the line that is not `word<TAB>count`.
        """
        words: list[str] = []
        counts: list[int] = []
        with Path(path).open(encoding="utf-8", newline="\n") as file:
            header = file.readline().rstrip("\n")
            if header not in ("# lowercase=true", "# lowercase=false"):
                raise FileFormatError(
                    path, 1, f"expected '# lowercase=true' or '# lowercase=false', got {header[:80]!r}"
                )
            for number, line in enumerate(file, start=2):
                word, tab, count = line.rstrip("\n").rpartition("\t")
                if not tab or not count.isdigit():
                    raise FileFormatError(path, number, f"expected 'word<TAB>count', got {line[:80]!r}")
                words.append(word)
                counts.append(int(count))
        return cls(tuple(words), np.array(counts, dtype=np.int64), header.endswith("true"))


def count_words(sentences: Iterable[Sequence[str]], lowercase: bool = True) -> dict[str, int]:
    """Occurrences of each (lower-cased) token."""
    counts: dict[str, int] = {}
    for tokens in sentences:
        for token in tokens:
            word = token.lower() if lowercase else token
            counts[word] = counts.get(word, 0) + 1
    return counts
