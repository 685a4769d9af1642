"""WordVectors: words of one language, one float32 row each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from x2s.errors import InputError
from x2s.vectors import folder as folders
from x2s.vectors import formats

if TYPE_CHECKING:
    import gensim.models

_ROWS_PER_CHECK = 16_384


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words and their vectors.

    The matrix is kept as it is when it already is float32 and C-contiguous (otherwise converted once), and is
    exposed read-only: change it with `with_matrix`.

    Raises:
        InputError: Duplicate words, a matrix or counts of another length, NaN or infinite numbers, or
            counts that are no whole numbers.
    """

    words: tuple[str, ...]
    """Distinct; by falling frequency wherever the source knows frequencies."""
    matrix: np.ndarray
    """[n, d] float32, finite, read-only."""
    language: str | None = None
    """ISO code, e.g. "de"."""
    counts: np.ndarray | None = None
    """[n] int64 corpus counts, or None where unknown."""
    _index: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        words = tuple(self.words)
        matrix = _read_only(np.ascontiguousarray(self.matrix, dtype=np.float32))
        if matrix.ndim != 2 or len(matrix) != len(words):
            raise InputError(f"expected a matrix with {len(words)} rows (one a word), got shape {matrix.shape}")
        index = {word: row for row, word in enumerate(words)}
        if len(index) != len(words):
            twice = next(word for row, word in enumerate(words) if index[word] != row)
            raise InputError(f"words must be distinct, but {twice!r} is there more than once; keep one of them")
        _check_finite(words, matrix)
        counts = self.counts
        if counts is not None:
            if np.asarray(counts).dtype.kind not in "iu" or (np.asarray(counts) < 0).any():
                raise InputError(f"counts: expected whole numbers of 0 or more, got {np.asarray(counts).dtype} values")
            counts = _read_only(np.ascontiguousarray(counts, dtype=np.int64))
            if counts.shape != (len(words),):
                raise InputError(f"expected {len(words)} counts (one a word), got shape {counts.shape}")
        for name, value in (("words", words), ("matrix", matrix), ("counts", counts), ("_index", index)):
            object.__setattr__(self, name, value)

    @property
    def dimension(self) -> int:
        """Length d of each vector."""
        return int(self.matrix.shape[1])

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._index

    def row(self, word: str) -> int:
        """Row of a word.

        Raises:
            KeyError: The word has no vector.
        """
        return self._index[word]

    def rows(self, words: Iterable[str]) -> np.ndarray:
        """Rows [len(words)] int64 of many words, -1 where a word has no vector."""
        find = self._index.get
        return np.fromiter((find(word, -1) for word in words), dtype=np.int64)

    def __getitem__(self, word: str) -> np.ndarray:
        """Vector [d] of a word; KeyError if it has none."""
        vector: np.ndarray = self.matrix[self._index[word]]
        return vector

    def take(self, rows: int | Sequence[int] | np.ndarray) -> Self:
        """Only the first `rows` words (an int), or the words at these rows, in this order.

        Raises:
            InputError: A row that is not there, or there twice.
        """
        if isinstance(rows, int | np.integer):
            kept = np.arange(min(max(int(rows), 0), len(self)))
        else:
            kept = np.asarray(rows, dtype=np.int64)
            outside = kept[(kept < 0) | (kept >= len(self))]
            if outside.size:
                raise InputError(f"rows must be in [0, {len(self)}), got {outside[0]}")
        words = tuple(self.words[row] for row in kept)
        return replace(
            self, words=words, matrix=self.matrix[kept], counts=None if self.counts is None else self.counts[kept]
        )

    def with_matrix(self, matrix: np.ndarray) -> Self:
        """The same words with other vectors [n, any d]."""
        return replace(self, matrix=matrix)

    # -- own format -------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Write a folder of model.safetensors, vocabulary.tsv, config.json and a model card; whole or not at all.

        Raises:
            InputError: A word with a tab or a line break, or a lone surrogate.
            UnavailableError: No space, or no permission.
        """
        folders.save(folder, self.words, self.matrix, self.language, self.counts)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read what `save` wrote.

        Raises:
            InputError: No such folder.
            FileFormatError: Files that do not belong together, or were cut short.
        """
        return cls(*folders.load(folder))

    def save_pretrained(self, folder: str | Path) -> None:
        """Same as `save`, under the name users of the hub know."""
        self.save(folder)

    @classmethod
    def from_pretrained(
        cls, source: str | Path, *, language: str | None = None, revision: str | None = None, token: str | None = None
    ) -> Self:
        """Load from a local folder or a repository on the hub.

        Args:
            source: A folder, or a repository such as "name/vectors".
            language: Needed where the source holds one subfolder per language.
            revision: Branch, tag or commit on the hub.
            token: Access token for private repositories; by default the one that `hf auth login` stored.

        Raises:
            InputError: Neither a folder nor a repository, or without that language.
            UnavailableError: The hub cannot be reached.
        """
        local = Path(source)
        if not local.is_dir():
            local = folders.download(str(source), language, revision, token)
        return cls.load(folders.of_language(local, language))

    def push_to_hub(
        self,
        repository: str,
        *,
        subfolder: str | None = None,
        private: bool | None = None,
        token: str | None = None,
        message: str = "Add word vectors",
    ) -> str:
        """Upload to the hub (the repository is created if need be) and return the commit's address.

        Args:
            repository: Such as "name/vectors".
            subfolder: Several languages can share a repository, each in the subfolder named by its code;
                `from_pretrained(repository, language=...)` finds it there.
            private: Whether a new repository is private.
            token: As in `from_pretrained`.
            message: The commit message.

        Raises:
            UnavailableError: The hub refuses or cannot be reached.
        """
        parts = (self.words, self.matrix, self.language, self.counts)
        return folders.upload(parts, repository, subfolder, private, token, message)

    # -- formats of others ------------------------------------------------------------------------------------

    @classmethod
    def from_word2vec(
        cls,
        path: str | Path,
        binary: bool | None = None,
        limit: int | None = None,
        *,
        language: str | None = None,
        errors: Literal["strict", "replace"] = "strict",
    ) -> Self:
        """Read word2vec text or binary, fastText .vec or GloVe text, plain or gzipped; see `formats.read_word2vec`."""
        words, matrix = formats.read_word2vec(path, binary, limit, errors=errors)
        return cls(words, matrix, language)

    def to_word2vec(self, path: str | Path, binary: bool = False) -> None:
        """Write word2vec text (.vec) or binary, gzipped if the name ends in .gz; see `formats.write_word2vec`."""
        formats.write_word2vec(path, self.words, self.matrix, binary)

    def to_keyed_vectors(self) -> "gensim.models.KeyedVectors":
        """As gensim's `KeyedVectors`.

        Raises:
            MissingExtraError: gensim is not installed (`pip install 'x2s[gensim]'`).
        """
        from x2s.vectors.export import to_keyed_vectors

        return to_keyed_vectors(self)

    @classmethod
    def from_keyed_vectors(cls, keyed_vectors: Any, language: str | None = None) -> Self:
        """From gensim's `KeyedVectors`, counts included where it has them."""
        from x2s.vectors.export import parts_of_keyed_vectors

        words, matrix, counts = parts_of_keyed_vectors(keyed_vectors)
        return cls(words, matrix, language, counts)


def _read_only(array: np.ndarray) -> np.ndarray:
    """A read-only view, so that the caller's own array stays as writable as it was."""
    view = array.view()
    view.flags.writeable = False
    return view


def _check_finite(words: tuple[str, ...], matrix: np.ndarray) -> None:
    for start in range(0, len(matrix), _ROWS_PER_CHECK):
        finite = np.isfinite(matrix[start : start + _ROWS_PER_CHECK])
        if not finite.all():
            row = start + int(np.flatnonzero(~finite.all(axis=1))[0])
            raise InputError(f"vectors must be finite, but that of {words[row]!r} (row {row}) has NaN or infinity")
