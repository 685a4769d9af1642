"""Encoder: a teacher stopped at one layer, streamed as word occurrences."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from x2s.contextual.batching import PaddedBatch, chunks, padded_batches, windows
from x2s.contextual.loading import check_layers, load_encoder, resolve_device, resolve_dtype
from x2s.contextual.occurrences import Occurrences
from x2s.contextual.pooling import averaging_matrices, pool
from x2s.contextual.subwords import SubwordTokenizer, Window, WordIndex
from x2s.errors import InputError
from x2s.progress import Progress, start

_LOOK_AHEAD = 1024
_TOKENS_PER_BATCH = {"cpu": 2048, "cuda": 32768}


class Encoder:
    """Any `AutoModel` encoder, run up to one layer; the layers above are never computed.

    Args:
        model: Folder of a transformers model, or its name on the hub.
        layer: Which hidden state to read: 0 is the embeddings, n the output of block n without any final norm.
        revision: Branch, tag or commit on the hub.
        dtype: "fp32" (the reference), "bf16", "fp16", or "auto": the fastest that the device multiplies natively.
        device: "auto", "cpu", "cuda", "cuda:1", ...
        max_subwords: Longer sentences are cut; words that are cut off are no targets.

    Attributes:
        dimension: Length d of its vectors.
        layers: Number of blocks, the largest `layer`.
        blocks: The model's blocks in order, those above `layer` included.
        name: The model as given.
        revision: Commit on the hub, or `sha256:...` of the local weights.

    Raises:
        InputError: Unknown layer, dtype or device; not an encoder; no fast tokenizer.
        UnavailableError: No such folder, or the hub cannot be reached.
    """

    def __init__(
        self,
        model: str | Path,
        layer: int,
        *,
        revision: str | None = None,
        dtype: str = "auto",
        device: str = "auto",
        max_subwords: int = 200,
    ) -> None:
        self.device = resolve_device(device)
        self.dtype = resolve_dtype(dtype, self.device)
        loaded = load_encoder(model, layer, revision, self.dtype, self.device)
        self.name, self.revision = loaded.name, loaded.revision
        self.dimension: int = loaded.config.hidden_size
        self.layers = len(loaded.blocks)
        self.layer = layer
        self.blocks = loaded.blocks
        self._reader = _LayerReader(loaded.model, loaded.blocks)
        self._pad_id: int = loaded.tokenizer.pad_token_id or 0
        self._tokenizer = SubwordTokenizer(loaded.tokenizer, max_subwords, loaded.positions)

    def occurrences(
        self,
        token_lists: Iterable[Sequence[str]],
        vocabulary: WordIndex,
        *,
        context: str = "others",
        own_layers: Sequence[int] = (),
        tokens_per_batch: int | None = None,
        sentences_per_batch: int = 128,
        sentences_total: int | None = None,
    ) -> Iterator[Occurrences]:
        """Stream the occurrences of the vocabulary's words, in the order of the text.

        Args:
            token_lists: Sentences as tokens; each is read once, with a look-ahead of at most 1024 sentences.
            vocabulary: Gives the row of each token (`x2s.corpus.Vocabulary`).
            context: "others" (the paper) averages the sentence's other words; "all" (the paper's code) averages the
                target and the special tokens too, but never unknown subwords.
            own_layers: Further layers of which own vectors are wanted, from the same pass; a layer above `layer`
                costs the blocks up to it.
            tokens_per_batch: Padded subwords per forward pass; affects speed and memory, results only by rounding.
            sentences_per_batch: Sentences per yielded batch, the same ones whatever `tokens_per_batch` is.
            sentences_total: For the progress report, where known.

        Yields:
            Batches with at least one occurrence each.

        Raises:
            InputError: Unknown context or layer, or a budget below 1.
        """
        if context not in ("others", "all"):
            raise InputError(f"context: expected 'others' or 'all', got {context!r}")
        check_layers(self.name, self.layers, own_layers, "own_layers")
        if sentences_per_batch < 1 or (tokens_per_batch is not None and tokens_per_batch < 1):
            raise InputError("tokens_per_batch and sentences_per_batch: expected 1 or more")
        return self._stream(
            windows(token_lists, self.look_ahead(len(own_layers), sentences_per_batch)),
            vocabulary,
            context,
            tuple(own_layers),
            tokens_per_batch,
            sentences_per_batch,
            start("encode", sentences_total, "sentences"),
        )

    def read(
        self, subword_ids: torch.Tensor, attention: torch.Tensor, layers: Sequence[int]
    ) -> dict[int, torch.Tensor]:
        """Hidden states [B, L, d] of layers, in the encoder's dtype; runs no block above the highest.

        Args:
            subword_ids: [B, L] int64.
            attention: [B, L] int64, 1 on subwords, 0 on padding.
            layers: At least one.
        """
        return self._reader(subword_ids, attention, layers)

    def batches(
        self, window: Window, tokens_per_batch: int | None = None, context: str = "others"
    ) -> Iterator[PaddedBatch]:
        """The padded batches that `occurrences` runs for one window, on the encoder's device."""
        budget = tokens_per_batch or _TOKENS_PER_BATCH.get(self.device.type, _TOKENS_PER_BATCH["cpu"])
        for batch in padded_batches(window, budget, self._pad_id, context):
            yield _moved(batch, self.device) if self.device.type != "cpu" else batch

    def window(self, sentences: Sequence[Sequence[str]], vocabulary: WordIndex) -> Window:
        """Tokenise sentences for this encoder."""
        return self._tokenizer.window(sentences, vocabulary)

    @staticmethod
    def look_ahead(own_layers: int = 0, sentences_per_batch: int = 128) -> int:
        """How many sentences are held and sorted by length at once.

        A whole number of yielded batches, fewer the more layers have to be held.
        """
        return max(1, _LOOK_AHEAD * 2 // (2 + own_layers) // sentences_per_batch) * sentences_per_batch

    def _stream(
        self,
        stream: Iterable[list[Sequence[str]]],
        vocabulary: WordIndex,
        context: str,
        own_layers: tuple[int, ...],
        tokens_per_batch: int | None,
        sentences_per_batch: int,
        progress: Progress,
    ) -> Iterator[Occurrences]:
        before = 0
        for sentences in stream:
            window = self.window(sentences, vocabulary)
            names: tuple[str | int, ...] = ("own", "context", *own_layers)
            vectors = {name: torch.empty(len(window.targets), self.dimension) for name in names}
            self._encode(window, context, own_layers, tokens_per_batch, vectors)
            for begin, end, sentence in chunks(window, sentences_per_batch):
                yield Occurrences(
                    word_ids=torch.from_numpy(window.rows[begin:end]),
                    sentence_ids=torch.from_numpy(sentence + before),
                    own=vectors["own"][begin:end],
                    context=vectors["context"][begin:end],
                    own_by_layer={layer: vectors[layer][begin:end] for layer in own_layers},
                )
            before += len(sentences)
            progress.advance(len(sentences))

    @torch.inference_mode()
    def _encode(
        self,
        window: Window,
        context: str,
        own_layers: tuple[int, ...],
        tokens_per_batch: int | None,
        vectors: dict[str | int, torch.Tensor],
    ) -> None:
        """Fill in own, context and further layers' vectors of the window's targets, in text order."""
        for batch in self.batches(window, tokens_per_batch, context):
            hidden = self.read(batch.subword_ids, batch.attention, (self.layer, *own_layers))
            own, around = averaging_matrices(batch, context)
            position = batch.position.cpu()
            vectors["own"][position] = pool(hidden[self.layer], own, batch.is_target).cpu()
            vectors["context"][position] = pool(hidden[self.layer], around, batch.is_target).cpu()
            for layer in own_layers:
                vectors[layer][position] = pool(hidden[layer], own, batch.is_target).cpu()


class _Reached(Exception):
    """Leaves the model's forward pass once the highest wanted layer is known."""


class _LayerReader:
    """Runs a model and keeps the outputs of chosen blocks.

    The pass is left by an exception from a hook: the one way that works for every architecture, needs no copy of
    anyone's forward method, and skips final norms and poolers as well as the blocks above.
    """

    def __init__(self, model: nn.Module, blocks: nn.ModuleList) -> None:
        self._model = model
        self._wanted: frozenset[int] = frozenset()
        self._found: dict[int, torch.Tensor] = {}
        blocks[0].register_forward_pre_hook(self._before_first, with_kwargs=True)
        for number, block in enumerate(blocks, start=1):
            block.register_forward_hook(self._after(number))

    def __call__(
        self, subword_ids: torch.Tensor, attention: torch.Tensor, layers: Sequence[int]
    ) -> dict[int, torch.Tensor]:
        self._wanted, self._found = frozenset(layers), {}
        try:
            self._model(input_ids=subword_ids, attention_mask=attention)
        except _Reached:
            found, self._found = self._found, {}
            return found
        raise AssertionError(f"no block {max(layers)} was run")

    def _before_first(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._keep(0, args[0] if args else kwargs["hidden_states"])

    def _after(self, number: int) -> Any:
        def hook(module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
            self._keep(number, output if isinstance(output, torch.Tensor) else output[0])

        return hook

    def _keep(self, layer: int, hidden: torch.Tensor) -> None:
        if layer in self._wanted:
            self._found[layer] = hidden
        if layer == max(self._wanted):
            raise _Reached


def _moved(batch: PaddedBatch, device: torch.device) -> PaddedBatch:
    return replace(
        batch,
        **{
            name: getattr(batch, name).to(device, non_blocking=True)
            for name in ("subword_ids", "attention", "averaged", "slot", "is_target")
        },
    )
