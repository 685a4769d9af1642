"""The encoder against full models and an independent float64 account of what belongs to which word."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.tiny_model import ARCHITECTURES, LAYERS, build_tiny_encoder, tiny_sentences
from transformers import AutoModel, AutoTokenizer

from x2s.contextual import Encoder, Occurrences
from x2s.corpus.vocabulary import Vocabulary, count_words
from x2s.errors import InputError, UnavailableError

SENTENCES = [*tiny_sentences(12), ["☃"], ["warm", "☃", "bread", "☃bread"], ["bread"], [], ["☃", "☃", "seven"]]
VOCABULARY = Vocabulary.from_counts(count_words(SENTENCES), min_count=1)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("encoders")
    return {name: build_tiny_encoder(root / name, name) for name in ARCHITECTURES}


def joined(batches: Sequence[Occurrences]) -> Occurrences:
    return Occurrences(
        torch.cat([batch.word_ids for batch in batches]),
        torch.cat([batch.sentence_ids for batch in batches]),
        torch.cat([batch.own for batch in batches]),
        torch.cat([batch.context for batch in batches]),
        {layer: torch.cat([batch.own_by_layer[layer] for batch in batches]) for layer in batches[0].own_by_layer},
    )


def reference(
    folder: Path, sentences: Sequence[Sequence[str]], layer: int, *, context: str = "others", max_subwords: int = 200
) -> list[tuple[int, int, np.ndarray, np.ndarray]]:
    """(sentence, row, own, context) in float64, one sentence at a time, word by word."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).double().eval()
    found = []
    for number, tokens in enumerate(sentences):
        text = " ".join(tokens)
        full = tokenizer(text, return_offsets_mapping=True)
        subwords, ids = full.tokens(), full["input_ids"]
        cut = len(ids) > max_subwords
        kept = [*range(max_subwords - 1), len(ids) - 1] if cut else list(range(len(ids)))
        with torch.no_grad():
            hidden = model(torch.tensor([[ids[i] for i in kept]]), output_hidden_states=True).hidden_states[layer][0]
        vector = {i: hidden[place].numpy() for place, i in enumerate(kept)}
        special = (0, len(ids) - 1)

        words, start = [], 0
        for token in tokens:
            span = set(range(start, start + len(token)))
            start += len(token) + 1
            pieces = [
                i
                for i, (begin, end) in enumerate(full["offset_mapping"])
                if i not in special
                and ids[i] != tokenizer.unk_token_id
                and subwords[i] not in ("▁", "Ġ")
                and span & set(range(begin, end))
            ]
            words.append(pieces)
        known = [i for pieces in words for i in pieces if i in vector]
        for token, pieces in zip(tokens, words, strict=True):
            others = [i for i in known if i not in pieces]
            if not pieces or not others or any(i not in vector for i in pieces):
                continue
            around = others if context == "others" else [*known, *special]
            found.append(
                (
                    number,
                    VOCABULARY.encode([token])[0],
                    np.mean([vector[i] for i in pieces], axis=0),
                    np.mean([vector[i] for i in around], axis=0),
                )
            )
    return found


def check(found: Occurrences, expected: list[tuple[int, int, np.ndarray, np.ndarray]]) -> None:
    assert found.sentence_ids.tolist() == [sentence for sentence, _, _, _ in expected]
    assert found.word_ids.tolist() == [row for _, row, _, _ in expected]
    np.testing.assert_allclose(found.own.numpy(), np.stack([own for _, _, own, _ in expected]), atol=2e-5)
    np.testing.assert_allclose(found.context.numpy(), np.stack([c for _, _, _, c in expected]), atol=2e-5)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("context", ["others", "all"])
def test_own_and_context_are_the_means_of_the_formula(
    folders: dict[str, Path], architecture: str, context: str
) -> None:
    encoder = Encoder(folders[architecture], 2, dtype="fp32", device="cpu")
    found = joined(list(encoder.occurrences(SENTENCES, VOCABULARY, context=context)))
    check(found, reference(folders[architecture], SENTENCES, 2, context=context))
    assert found.own.dtype == found.context.dtype == torch.float32


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("layer", range(LAYERS + 1))
def test_a_layer_is_the_full_models_hidden_state(folders: dict[str, Path], architecture: str, layer: int) -> None:
    encoder = Encoder(folders[architecture], layer, dtype="fp32", device="cpu")
    batch = next(encoder.batches(encoder.window(SENTENCES, VOCABULARY), 600))
    model = AutoModel.from_pretrained(folders[architecture]).eval()
    with torch.inference_mode():
        found = encoder.read(batch.subword_ids, batch.attention, [layer])[layer]
        if architecture == "modernbert" and layer == LAYERS:
            found = model.final_norm(found)  # transformers calls the normed output a hidden state; ours is the block's
        full = model(input_ids=batch.subword_ids, attention_mask=batch.attention, output_hidden_states=True)
    inside = batch.attention.bool()
    torch.testing.assert_close(found[inside], full.hidden_states[layer][inside], atol=1e-5, rtol=0)


def test_blocks_above_the_layer_are_never_run(tiny_encoder_folder: Path) -> None:
    encoder = Encoder(tiny_encoder_folder, 2, dtype="fp32", device="cpu")
    run: list[int] = []
    for number, block in enumerate(encoder.blocks):
        block.register_forward_pre_hook(lambda *_, number=number: run.append(number))
    list(encoder.occurrences(SENTENCES, VOCABULARY, tokens_per_batch=10_000))
    assert run == [0, 1]


def test_results_do_not_depend_on_batching(tiny_encoder_folder: Path) -> None:
    encoder = Encoder(tiny_encoder_folder, 3, dtype="fp32", device="cpu")
    one_by_one = joined(list(encoder.occurrences(SENTENCES, VOCABULARY, tokens_per_batch=1)))
    for budget in (64, 500, 100_000):
        batches = list(encoder.occurrences(SENTENCES, VOCABULARY, tokens_per_batch=budget, sentences_per_batch=4))
        assert [len(set(batch.sentence_ids.tolist())) for batch in batches[:3]] == [4] * 3
        together = joined(batches)
        assert torch.equal(together.word_ids, one_by_one.word_ids)
        assert torch.equal(together.sentence_ids, one_by_one.sentence_ids)
        torch.testing.assert_close(together.own, one_by_one.own, atol=1e-5, rtol=0)
        torch.testing.assert_close(together.context, one_by_one.context, atol=1e-5, rtol=0)


def test_two_runs_give_the_same_bits_and_the_stream_is_read_lazily(tiny_encoder_folder: Path) -> None:
    encoder = Encoder(tiny_encoder_folder, 3, dtype="fp32", device="cpu")
    first, second = (joined(list(encoder.occurrences(SENTENCES, VOCABULARY))) for _ in range(2))
    assert torch.equal(first.own, second.own)
    assert torch.equal(first.context, second.context)

    read = 0

    def endless() -> object:
        nonlocal read
        while True:
            read += 1
            yield SENTENCES[read % 12]

    next(encoder.occurrences(endless(), VOCABULARY))  # type: ignore[arg-type]
    assert read <= encoder.look_ahead() + 1


def test_further_layers_come_from_the_same_pass(tiny_encoder_folder: Path) -> None:
    layers = tuple(range(LAYERS + 1))
    encoder = Encoder(tiny_encoder_folder, 2, dtype="fp32", device="cpu")
    found = joined(list(encoder.occurrences(SENTENCES, VOCABULARY, own_layers=layers)))
    for layer in layers:
        alone = Encoder(tiny_encoder_folder, layer, dtype="fp32", device="cpu")
        expected = joined(list(alone.occurrences(SENTENCES, VOCABULARY)))
        torch.testing.assert_close(found.own_by_layer[layer], expected.own, atol=1e-6, rtol=0)
    assert torch.equal(found.own, found.own_by_layer[2])


@pytest.mark.parametrize("max_subwords", [9, 11, 12, 17])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_cut_off_words_are_no_targets(folders: dict[str, Path], architecture: str, max_subwords: int) -> None:
    encoder = Encoder(folders[architecture], 2, dtype="fp32", device="cpu", max_subwords=max_subwords)
    found = joined(list(encoder.occurrences(SENTENCES, VOCABULARY)))
    check(found, reference(folders[architecture], SENTENCES, 2, max_subwords=max_subwords))


def test_words_that_are_no_occurrences(tiny_encoder_folder: Path) -> None:
    encoder = Encoder(tiny_encoder_folder, 2, dtype="fp32", device="cpu")
    alone, unknown, mixed = ["bread"], ["☃", "bread", "☃"], ["warm", "☃bread", "❄"]
    found = list(encoder.occurrences([alone, [], unknown, mixed], VOCABULARY))
    words = [VOCABULARY.words[row] for batch in found for row in batch.word_ids]
    assert words == ["warm", "☃bread"]  # in `unknown` nothing but unknown subwords surrounds "bread"
    assert found[0].sentence_ids.tolist() == [3, 3]


def test_words_outside_the_vocabulary_are_context(tiny_encoder_folder: Path) -> None:
    encoder = Encoder(tiny_encoder_folder, 2, dtype="fp32", device="cpu")
    few = Vocabulary(("bread", "seven"), np.array([2, 1]))
    everything = joined(list(encoder.occurrences(SENTENCES, VOCABULARY)))
    found = joined(list(encoder.occurrences(SENTENCES, few)))
    same = torch.isin(everything.word_ids, torch.tensor(VOCABULARY.encode(few.words)))
    assert [few.words[row] for row in found.word_ids] == [VOCABULARY.words[row] for row in everything.word_ids[same]]
    torch.testing.assert_close(found.context, everything.context[same], atol=1e-6, rtol=0)


def test_bf16_stays_near_the_reference(tiny_encoder_folder: Path) -> None:
    exact, quick = (
        joined(list(Encoder(tiny_encoder_folder, 3, dtype=dtype, device="cpu").occurrences(SENTENCES, VOCABULARY)))
        for dtype in ("fp32", "bf16")
    )
    assert quick.own.dtype == torch.float32
    assert torch.cosine_similarity(exact.own, quick.own).min() > 0.99


def test_revision_names_the_weights(tiny_encoder_folder: Path, folders: dict[str, Path]) -> None:
    first, again = (Encoder(tiny_encoder_folder, layer, device="cpu").revision for layer in (1, 2))
    assert first == again
    assert first.startswith("sha256:")
    assert first != Encoder(folders["bert"], 1, device="cpu").revision


@pytest.mark.parametrize("layer", [-1, LAYERS + 1])
def test_unknown_layer(tiny_encoder_folder: Path, layer: int) -> None:
    with pytest.raises(InputError, match=rf"layers 0 \(embeddings\) to {LAYERS}, got {layer}"):
        Encoder(tiny_encoder_folder, layer)
    with pytest.raises(InputError, match=r"own_layers: .* got 9"):
        Encoder(tiny_encoder_folder, 1, device="cpu").occurrences(SENTENCES, VOCABULARY, own_layers=(9,))


def test_bad_arguments(tiny_encoder_folder: Path) -> None:
    encoder = Encoder(tiny_encoder_folder, 1, device="cpu")
    with pytest.raises(InputError, match="'others' or 'all'"):
        encoder.occurrences(SENTENCES, VOCABULARY, context="some")
    with pytest.raises(InputError, match="1 or more"):
        encoder.occurrences(SENTENCES, VOCABULARY, tokens_per_batch=0)
    with pytest.raises(InputError, match="max_subwords: expected 3 to 256"):
        Encoder(tiny_encoder_folder, 1, max_subwords=300)
    with pytest.raises(InputError, match="expected one of auto, fp32, bf16, fp16"):
        Encoder(tiny_encoder_folder, 1, dtype="int4")
    with pytest.raises(InputError, match="device"):
        Encoder(tiny_encoder_folder, 1, device="abacus")


def test_an_empty_corpus_has_no_occurrences(tiny_encoder_folder: Path) -> None:
    encoder = Encoder(tiny_encoder_folder, 1, device="cpu")
    assert list(encoder.occurrences([], VOCABULARY)) == []
    assert list(encoder.occurrences([[], ["bread"]], VOCABULARY)) == []


def test_missing_models(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="no such folder"):
        Encoder(tmp_path / "nowhere", 1)
    with pytest.raises(UnavailableError, match=r"no config\.json"):
        Encoder(tmp_path, 1)


def test_an_unreachable_hub_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise OSError("We couldn't connect to the hub")

    monkeypatch.setattr("x2s.contextual.loading.AutoConfig.from_pretrained", unreachable)
    with pytest.raises(UnavailableError, match="neither a folder here nor to be had from the Hugging Face hub"):
        Encoder("nobody/nothing", 1)
