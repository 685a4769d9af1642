"""Load an encoder and its tokenizer, and say in plain words why one cannot be used."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import nn
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
)
from transformers.utils import logging as transformers_logging

from x2s.errors import InputError, UnavailableError

_ADVICE = "Choose an encoder such as xlm-roberta-base, bert-base-multilingual-cased or intfloat/multilingual-e5-small."
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class LoadedEncoder:
    """A model in evaluation mode on its device, its blocks in order, and the Rust tokenizer."""

    model: nn.Module
    blocks: nn.ModuleList
    tokenizer: Any
    config: Any
    positions: int
    """The most subwords that the model can read, special tokens included."""
    name: str
    revision: str
    """Commit on the hub, or `sha256:...` of a local folder's weights."""


def load_encoder(
    model: str | Path, layer: int, revision: str | None, dtype: torch.dtype, device: torch.device
) -> LoadedEncoder:
    """Load a local folder or a hub model of which `layer` will be read.

    Raises:
        InputError: No such layer (said before any weights are loaded), not an encoder,
            no fast tokenizer, incomplete weights, or blocks in no known order.
        UnavailableError: No such folder, or the hub cannot be reached or does not have the model.
    """
    folder = _local_folder(model)
    where: str | Path = folder or str(model)
    with quiet_transformers(), _plain_words(model, folder):
        config = AutoConfig.from_pretrained(where, revision=revision)
    _check_encoder(config, model)
    check_layers(model, config.num_hidden_layers, (layer,), "layer")
    tokenizer = _load_tokenizer(where, revision, model)
    with quiet_transformers(), _plain_words(model, folder):
        network, info = AutoModel.from_pretrained(where, revision=revision, dtype=dtype, output_loading_info=True)
    blocks = find_blocks(network, config, model)
    # Heads and poolers are never run; anything else that is absent would be random.
    absent = sorted(key for key in info["missing_keys"] if "pooler" not in key)
    if absent:
        raise InputError(f"{model}: the checkpoint lacks {len(absent)} weights of the encoder, first {absent[0]!r}.")
    if getattr(network, "pooler", None) is not None:
        network.pooler = None
    network.requires_grad_(False).eval().to(device)
    return LoadedEncoder(
        model=network,
        blocks=blocks,
        tokenizer=tokenizer,
        config=config,
        positions=_positions(network, config, tokenizer),
        name=str(model),
        revision=_weights_checksum(folder) if folder else getattr(config, "_commit_hash", None) or "unknown",
    )


def check_layers(model: str | Path, blocks: int, layers: Iterable[int], argument: str) -> None:
    """Raise `InputError` with the valid range unless all `layers` are in it."""
    for layer in layers:
        if not 0 <= layer <= blocks:
            raise InputError(f"{argument}: {model} has the layers 0 (embeddings) to {blocks}, got {layer}")


def find_blocks(network: nn.Module, config: Any, model: str | Path = "model") -> nn.ModuleList:
    """The one outermost list of `num_hidden_layers` modules: what every encoder family names differently.

    Raises:
        InputError: There is none, or more than one (ALBERT shares its blocks, XLM splits them).
    """
    count = config.num_hidden_layers
    found = {name: m for name, m in network.named_modules() if isinstance(m, nn.ModuleList) and len(m) == count}
    outermost = [name for name in found if not any(name.startswith(other + ".") for other in found)]
    if len(outermost) != 1:
        raise InputError(
            f"{model}: expected one list of {count} encoder blocks in {type(network).__name__}, "
            f"found {outermost or 'none'}, so a layer cannot be read. {_ADVICE}"
        )
    return found[outermost[0]]


def resolve_device(device: str) -> torch.device:
    """`auto` is CUDA where there is one, else the CPU."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError as error:
        raise InputError(f"device: expected 'auto', 'cpu' or 'cuda', got {device!r}") from error
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InputError("device='cuda', but PyTorch sees no GPU here. Use device='auto' or 'cpu'.")
    return chosen


def resolve_dtype(dtype: str, device: torch.device) -> torch.dtype:
    """`auto` is the fastest that loses little: bf16 (or fp16) on GPU, bf16 on CPUs that multiply it, else fp32."""
    if dtype != "auto":
        if dtype not in DTYPES:
            raise InputError(f"dtype: expected one of auto, {', '.join(DTYPES)}, got {dtype!r}")
        return DTYPES[dtype]
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    return torch.bfloat16 if device.type == "cpu" and _cpu_multiplies_bf16() else torch.float32


def _cpu_multiplies_bf16() -> bool:
    # Private in PyTorch, hence the defaults: a build without these questions gets the reference dtype.
    questions = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, question, lambda: False)() for question in questions)


def _local_folder(model: str | Path) -> Path | None:
    folder = Path(model).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise UnavailableError(f"{model}: expected a transformers model folder, but it has no config.json.")
        return folder
    if isinstance(model, Path) or model.startswith((".", "/", "~")) or model.count("/") > 1:
        raise UnavailableError(f"{model}: no such folder. Give the folder of a transformers model, or a hub name.")
    return None


def _check_encoder(config: Any, model: str | Path) -> None:
    kind = config.model_type
    if getattr(config, "is_encoder_decoder", False):
        raise InputError(f"{model}: an encoder-decoder model ({kind}) cannot be a teacher. {_ADVICE}")
    decoder_only = kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and kind not in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    if decoder_only or getattr(config, "is_decoder", False):
        raise InputError(
            f"{model}: a decoder ({kind}) sees only the words before the target, so it cannot be a teacher. {_ADVICE}"
        )
    if not isinstance(getattr(config, "num_hidden_layers", None), int):
        raise InputError(f"{model}: {kind} is not a text encoder with numbered layers. {_ADVICE}")


def _load_tokenizer(where: str | Path, revision: str | None, model: str | Path) -> Any:
    remedy = (
        "x2s maps words to subwords through the offsets of a fast tokenizer (tokenizer.json). "
        "Convert the tokenizer with transformers and save it into the model's folder, or choose another model."
    )
    try:
        with quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(where, revision=revision)
    except Exception as error:  # transformers raises almost any type here: OSError, ValueError, ImportError, ...
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{model}: its tokenizer cannot be loaded ({reason}). {remedy}") from error
    if not tokenizer.is_fast:
        raise InputError(f"{model}: {type(tokenizer).__name__} is a slow tokenizer. {remedy}")
    # transformers makes an empty tokenizer, and no complaint, for a folder that has none.
    if set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        raise InputError(f"{model}: its tokenizer has no subwords, so its files are probably absent. {remedy}")
    return tokenizer


def _positions(network: nn.Module, config: Any, tokenizer: Any) -> int:
    positions = getattr(config, "max_position_embeddings", None) or tokenizer.model_max_length
    for name, module in network.named_modules():
        # RoBERTa and its descendants begin to count positions behind the padding's.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            positions -= int(module.padding_idx) + 1
    return int(min(positions, tokenizer.model_max_length))


def _weights_checksum(folder: Path) -> str:
    """SHA-256 of the weights file, or of all files' checksums where the weights are split."""
    checksums = []
    for path in sorted([*folder.glob("*.safetensors"), *folder.glob("pytorch_model*.bin")]):
        with path.open("rb") as file:
            checksums.append(hashlib.file_digest(file, "sha256").hexdigest())
    return "sha256:" + (
        checksums[0] if len(checksums) == 1 else hashlib.sha256("".join(checksums).encode()).hexdigest()
    )


@contextmanager
def _plain_words(model: str | Path, folder: Path | None) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:200]
        if folder:
            raise InputError(f"{model}: not a usable model folder ({reason})") from error
        raise UnavailableError(
            f"{model}: neither a folder here nor to be had from the Hugging Face hub. Check the name and the "
            f"network, download it beforehand and give its folder, or use the offline teacher. ({reason})"
        ) from error


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Loading reports heads as unexpected weights and draws bars; neither helps someone who reads a layer."""
    level = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(level)
        if bars:
            transformers_logging.enable_progress_bar()
