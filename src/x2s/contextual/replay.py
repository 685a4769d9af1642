"""Recording: what the teacher said, kept on disk for as long as several epochs need it."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import torch
from safetensors.torch import load, save

from x2s.contextual.occurrences import Occurrences
from x2s.errors import InputError
from x2s.files import explained

_PATTERN = "[0-9]*.safetensors"


class Recording:
    """Batches that can be iterated several times, of which the source is read once.

    The first iteration hands through what the source yields and writes it down; later ones read it back. Vectors are
    stored as bfloat16 unless asked otherwise: an error of at most 0.4% per number, no more than a teacher run in bf16
    has, for half the space. Space needed: occurrences x dimension x 2 vectors x 2 bytes; 1 million sentences of 20
    words at 768 dimensions take 61 GB (float32: 123 GB).

    Use it as a context manager, or call `close`: the folder's recording is removed at the end, as is what a killed run
    left there.

    Args:
        batches: Read once.
        folder: Of its own, new or empty.
        dtype: "bf16" or "fp32" (later epochs then see the very same numbers as the first).

    Raises:
        InputError: Unknown dtype, or the folder holds other files.
        UnavailableError: The disk is full, or the folder cannot be written.
    """

    def __init__(self, batches: Iterable[Occurrences], folder: str | Path, *, dtype: str = "bf16") -> None:
        if dtype not in ("bf16", "fp32"):
            raise InputError(f"dtype of a recording: expected 'bf16' or 'fp32', got {dtype!r}")
        self._folder = Path(folder)
        self._dtype = torch.bfloat16 if dtype == "bf16" else torch.float32
        self._source: Iterable[Occurrences] | None = batches
        self._count = 0
        self.bytes = 0
        """Written so far."""
        self._complete = False
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise explained(error, self._folder) from error
        others = {path.name for path in self._folder.iterdir()} - {path.name for path in self._folder.glob(_PATTERN)}
        if others:
            raise InputError(f"{folder}: a recording needs a folder of its own, but {sorted(others)[0]!r} is there")
        self._remove()

    def __iter__(self) -> Iterator[Occurrences]:
        if self._complete:
            return self._replayed()
        if self._source is None:
            raise InputError("recording: its first iteration was not finished, or it is closed")
        source, self._source = self._source, None
        return self._recorded(source)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the recording, and its folder."""
        self._source, self._complete = None, False
        self._remove()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _recorded(self, source: Iterable[Occurrences]) -> Iterator[Occurrences]:
        for batch in source:
            packed = save(_tensors(batch, self._dtype))
            path = self._path(self._count)
            try:
                path.write_bytes(packed)
            except OSError as error:
                self._remove()
                raise explained(error, self._folder) from error
            self._count += 1
            self.bytes += len(packed)
            yield batch
        self._complete = True

    def _replayed(self) -> Iterator[Occurrences]:
        for number in range(self._count):
            yield _occurrences(load(self._path(number).read_bytes()))

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:08d}.safetensors"

    def _remove(self) -> None:
        for path in self._folder.glob(_PATTERN):
            path.unlink(missing_ok=True)


def _tensors(batch: Occurrences, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    vectors = {"own": batch.own, "context": batch.context}
    vectors |= {f"own.{layer}": own for layer, own in batch.own_by_layer.items()}
    tensors = {name: vector.to(dtype).contiguous() for name, vector in vectors.items()}
    return tensors | {"word_ids": batch.word_ids.contiguous(), "sentence_ids": batch.sentence_ids.contiguous()}


def _occurrences(tensors: dict[str, torch.Tensor]) -> Occurrences:
    return Occurrences(
        word_ids=tensors["word_ids"],
        sentence_ids=tensors["sentence_ids"],
        own=tensors["own"].float(),
        context=tensors["context"].float(),
        own_by_layer={int(name[4:]): own.float() for name, own in tensors.items() if name.startswith("own.")},
    )
