"""Sentence and its store: one Parquet file per language that streams, shards and keeps paragraphs whole."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from x2s.errors import FileFormatError, InputError
from x2s.files import whole

_SCHEMA = pa.schema(
    [("paragraph", pa.int64()), ("text", pa.string()), ("tokens", pa.list_(pa.string()))],
)
_ROWS_PER_GROUP = 8192


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: its natural text (NFC), its tokens in order, and the paragraph it belongs to.

    Sentences with the same paragraph number follow each other. Tokens may contain single spaces (UDPipe's
    Vietnamese words), never tabs or line breaks.
    """

    paragraph: int
    text: str
    tokens: tuple[str, ...]


def write_sentences(path: str | Path, sentences: Iterable[Sentence]) -> int:
    """Stream sentences to Parquet; a row group ends only between paragraphs. Returns how many were written."""
    written = 0
    with whole(path) as beside, pq.ParquetWriter(beside, _SCHEMA, compression="zstd") as writer:
        rows: list[Sentence] = []
        for sentence in sentences:
            if len(rows) >= _ROWS_PER_GROUP and rows[-1].paragraph != sentence.paragraph:
                writer.write_table(_table(rows))
                written += len(rows)
                rows = []
            rows.append(sentence)
        if rows:
            writer.write_table(_table(rows))
            written += len(rows)
    return written


def _table(rows: list[Sentence]) -> pa.Table:
    return pa.table(
        [[row.paragraph for row in rows], [row.text for row in rows], [list(row.tokens) for row in rows]],
        schema=_SCHEMA,
    )


class SentenceFile:
    """A stored corpus, read lazily and as often as needed.

    `shard(index, of)` takes every `of`-th row group, so shards are disjoint, together complete and never split
    a paragraph.
    """

    def __init__(self, path: str | Path, groups: tuple[int, ...] | None = None) -> None:
        self.path = Path(path)
        try:
            metadata = pq.read_metadata(self.path)
        except FileNotFoundError:
            raise InputError(f"{path}: no corpus there. Build it first with 'x2s corpus'.") from None
        except pa.ArrowInvalid as error:
            raise FileFormatError(path, None, f"expected a Parquet file of sentences: {error}") from error
        self._groups = tuple(range(metadata.num_row_groups)) if groups is None else groups
        self._length: int = sum(metadata.row_group(group).num_rows for group in self._groups)

    def __len__(self) -> int:
        """Return the number of sentences."""
        return self._length

    def __iter__(self) -> Iterator[Sentence]:
        with pq.ParquetFile(self.path) as file:
            for group in self._groups:
                columns = file.read_row_group(group).to_pydict()
                for paragraph, text, tokens in zip(
                    columns["paragraph"], columns["text"], columns["tokens"], strict=True
                ):
                    yield Sentence(paragraph, text, tuple(tokens))

    def shard(self, index: int, of: int) -> Self:
        """The `index`-th (from 0) of `of` disjoint parts."""
        if not 0 <= index < of:
            raise ValueError(f"shard index must be in [0, {of}), got {index}")
        return type(self)(self.path, self._groups[index::of])

    def paragraphs(self) -> Iterator[Sentence]:
        """Paragraphs as if each were one long sentence: texts joined by a space, tokens concatenated."""
        current: list[Sentence] = []
        for sentence in self:
            if current and sentence.paragraph != current[0].paragraph:
                yield _joined(current)
                current = []
            current.append(sentence)
        if current:
            yield _joined(current)


def _joined(sentences: list[Sentence]) -> Sentence:
    tokens = tuple(token for sentence in sentences for token in sentence.tokens)
    return Sentence(sentences[0].paragraph, " ".join(sentence.text for sentence in sentences), tokens)
