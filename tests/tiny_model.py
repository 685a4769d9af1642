"""Tiny encoders with trained tokenizers, built in a second without any download.

Three architectures with the tokenizer kind each of them uses in the wild: XLM-R (Unigram with "▁"), BERT (lower-casing
WordPiece) and ModernBERT (byte-level BPE). Weights are random with a fixed seed: good for everything but quality.
"""

import random
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertModel,
    ModernBertConfig,
    ModernBertModel,
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
    XLMRobertaModel,
)

LAYERS = 4
DIMENSION = 32
POSITIONS = 256
ARCHITECTURES = ("xlm-roberta", "bert", "modernbert")

_SUBJECTS = ("the old baker", "a small river", "my neighbour", "die alte Lehrerin", "un petit chat", "наша команда")
_VERBS = ("finds", "carries", "remembers", "sucht", "regarde", "читает", "pinta", "builds")
_OBJECTS = (
    "the red bridge",
    "warm bread",
    "eine Zeitung",
    "les fleurs",
    "новую книгу",
    "una casa blanca",
    "seven boats",
)
_PLACES = ("near the harbour", "before winter", "am Morgen", "dans la ville", "в лесу", "por la noche", "without help")


def tiny_sentences(count: int = 400, seed: int = 0) -> list[list[str]]:
    """Sentences in a mixture of languages, as token lists that end in a full stop."""
    draw = random.Random(seed)
    parts = (_SUBJECTS, _VERBS, _OBJECTS, _PLACES)
    return [[*" ".join(draw.choice(part) for part in parts).split(), "."] for _ in range(count)]


def build_tiny_encoder(folder: Path, architecture: str = "xlm-roberta", layers: int = LAYERS) -> Path:
    """Write a tiny encoder of one of `ARCHITECTURES` with its tokenizer into `folder`."""
    tokenizer = {"xlm-roberta": _unigram, "bert": _wordpiece, "modernbert": _byte_level}[architecture]()
    size, pad = len(tokenizer), tokenizer.pad_token_id
    shape = {"hidden_size": DIMENSION, "num_hidden_layers": layers, "num_attention_heads": 4, "intermediate_size": 64}
    torch.manual_seed(0)
    model: torch.nn.Module
    if architecture == "xlm-roberta":
        model = XLMRobertaModel(
            XLMRobertaConfig(vocab_size=size, pad_token_id=pad, max_position_embeddings=POSITIONS + 2, **shape)
        )
    elif architecture == "bert":
        model = BertModel(BertConfig(vocab_size=size, pad_token_id=pad, max_position_embeddings=POSITIONS, **shape))
    else:
        model = ModernBertModel(
            ModernBertConfig(
                vocab_size=size,
                pad_token_id=pad,
                bos_token_id=tokenizer.cls_token_id,
                eos_token_id=tokenizer.sep_token_id,
                cls_token_id=tokenizer.cls_token_id,
                sep_token_id=tokenizer.sep_token_id,
                max_position_embeddings=POSITIONS,
                local_attention=8,
                **shape,
            )
        )
    _spread(model)
    model.save_pretrained(folder)  # type: ignore[operator]
    tokenizer.save_pretrained(folder)
    return folder


def _spread(model: torch.nn.Module) -> None:
    # Freshly initialised encoders give nearly the same vector everywhere; larger weights make mistakes visible.
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(6)


def _texts() -> list[str]:
    return [" ".join(tokens) for tokens in tiny_sentences()]


def _unigram() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=220, special_tokens=special, unk_token="<unk>", show_progress=False, initial_alphabet=["▁"]
    )
    tokenizer.train_from_iterator(_texts(), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token="<mask>",
        model_max_length=POSITIONS,
    )


def _bracketed(tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", cls), ("[SEP]", sep)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        cls_token="[CLS]",
        sep_token="[SEP]",
        unk_token="[UNK]",
        pad_token="[PAD]",
        mask_token="[MASK]",
        model_max_length=POSITIONS,
    )


_BRACKETS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def _wordpiece() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=250, special_tokens=_BRACKETS, show_progress=False)
    tokenizer.train_from_iterator(_texts(), trainer)
    return _bracketed(tokenizer)


def _byte_level() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=_BRACKETS, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(_texts(), trainer)
    return _bracketed(tokenizer)
