"""Which subwords belong to which word, where offsets are awkward."""

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from x2s.contextual.batching import padded_batches, token_budget, windows
from x2s.contextual.subwords import SPECIAL, VOID, SubwordTokenizer, Window, _cover
from x2s.corpus.vocabulary import Vocabulary


def vocabulary(*words: str) -> Vocabulary:
    return Vocabulary(words, np.ones(len(words), np.int64))


def window(folder: Path, sentences: list[list[str]], max_subwords: int = 200) -> Window:
    tokens = dict.fromkeys(token.lower() for sentence in sentences for token in sentence)
    return SubwordTokenizer(AutoTokenizer.from_pretrained(folder), max_subwords, 256).window(
        sentences, vocabulary(*tokens)
    )


def test_offsets_that_include_the_space_and_lone_marks(tiny_encoder_folder: Path) -> None:
    found = window(tiny_encoder_folder, [["warm", "☃", "old"], ["old"]])
    tokens = AutoTokenizer.from_pretrained(tiny_encoder_folder).convert_ids_to_tokens(found.subword_ids.tolist())
    for token, word in zip(tokens, found.word, strict=True):
        if token in ("<s>", "</s>"):
            assert word == SPECIAL
        elif token in ("▁", "<unk>"):
            assert word == VOID
        else:
            assert word in (0, 2, 3)
    assert found.targets.tolist() == [0, 2]  # the unknown word is out, and the one that is alone


def test_words_with_spaces_keep_all_their_subwords(tiny_encoder_folder: Path) -> None:
    found = window(tiny_encoder_folder, [["the red", "bridge"]])
    first, second = (int((found.word == word).sum()) for word in (0, 1))
    apart = window(tiny_encoder_folder, [["the", "red", "bridge"]])
    assert first == int((apart.word == 0).sum() + (apart.word == 1).sum())
    assert second == int((apart.word == 2).sum())


def test_a_subword_over_two_words_goes_to_the_larger_part() -> None:
    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0, "a bcd": 1, "ab cd": 2, "x": 3}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("|", "removed")
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")
    subwords = SubwordTokenizer(fast, 10, 10)
    found = subwords.window([["a", "bcd|x"]], vocabulary("a", "bcd|x"))
    assert found.word.tolist() == [1, 1]
    found = subwords.window([["ab", "cd|x"]], vocabulary("ab", "cd|x"))
    assert found.word.tolist() == [0, 1]
    assert found.targets.tolist() == [0, 1]


def test_cover_counts_every_subword_once() -> None:
    starts, ends = np.array([0, 4, 9]), np.array([3, 8, 12])
    begins, stops = np.array([0, 2, 3, 3, 8, 0, 12]), np.array([3, 6, 4, 5, 12, 12, 13])
    assert _cover(begins, stops, starts, ends).tolist() == [0, 1, VOID, 1, 2, 1, VOID]


def test_special_tokens_spelt_out_in_the_text_are_no_words(tiny_encoder_folder: Path) -> None:
    found = window(tiny_encoder_folder, [["warm", "<mask>", "bread", "<pad>"]])
    assert found.targets.tolist() == [0, 2]


def test_partly_cut_words_are_context_but_no_targets(tiny_encoder_folder: Path) -> None:
    sentence = ["remembers", "remembers", "remembers"]
    whole = window(tiny_encoder_folder, [sentence])
    per_word = int((whole.word == 0).sum())
    assert per_word > 1
    cut = int(np.flatnonzero(whole.word == 2)[0]) + 1 + 1  # one subword of the third word, and </s>
    found = window(tiny_encoder_folder, [sentence], max_subwords=cut)
    assert int((found.word == 2).sum()) == 1
    assert found.targets.tolist() == [0, 1]


@pytest.mark.parametrize("budget", [1, 12, 40, 10_000])
def test_every_target_is_in_one_batch_of_the_budget(tiny_encoder_folder: Path, budget: int) -> None:
    sentences = [["warm", "bread"] * count for count in (3, 1, 2, 5, 1)] + [["bread"], []]
    found = window(tiny_encoder_folder, sentences)
    batches = list(padded_batches(found, budget, 1, "others"))
    positions = np.concatenate([batch.position.numpy() for batch in batches])
    assert sorted(positions.tolist()) == list(range(len(found.targets)))
    assert all(batch.subword_ids.numel() <= budget or len(batch) == 1 for batch in batches)


def test_windows_and_budget() -> None:
    assert list(windows(range(5), 2)) == [[0, 1], [2, 3], [4]]
    lengths = np.array([4, 9, 5])
    assert [part.tolist() for part in token_budget(lengths, np.array([1, 2, 0]), 10)] == [[1], [2, 0]]
