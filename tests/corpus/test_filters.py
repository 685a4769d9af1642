"""Normalisation, the sentence filters, and the sample."""

import math
from collections import Counter
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from x2s.corpus.filters import Filters, has_letter, normalise
from x2s.corpus.shuffle import Candidate, Sample, digest, priority
from x2s.errors import InputError


def by_stop(text: str) -> list[str]:
    return [part.strip() + "." for part in text.split(".") if part.strip()]


class TestNormalise:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("cafe\u0301", "café"),
            (" a\t b\r\nc\u00a0d\u3000e\u2028f\x85g ", "a b c d e f g"),
            ("a\x00b\x07c\x7fd\x9fe", "abcde"),
            ("Silben\u00adtrennung", "Silbentrennung"),
            ("\ufeffa\u200bb\u2060c\u200ed", "abcd"),
            ("می\u200cخواهم", "می\u200cخواهم"),  # the non-joiner is spelling
            ("ക്\u200dഷ", "ക്\u200dഷ"),
            ("half \ud83d of a pair", "half of a pair"),
            ("😀 stays", "😀 stays"),
            ("", ""),
        ],
    )
    def test_examples(self, text: str, expected: str) -> None:
        assert normalise(text) == expected

    @given(st.text(st.characters(exclude_categories=())))
    def test_is_idempotent_and_can_be_stored(self, text: str) -> None:
        once = normalise(text)
        assert normalise(once) == once
        assert "\x1f" not in once
        once.encode("utf-8")


class TestFilters:
    def filtered(self, paragraph: str, **limits: int) -> tuple[list[str], Counter[str]]:
        counts: Counter[str] = Counter()
        kept = Filters(**limits).sentences(paragraph, by_stop, str.split, counts)
        return [text for text, _ in kept], counts

    def test_each_reason_is_counted(self) -> None:
        long = " ".join("abcdefghij")
        kept, counts = self.filtered(f"a b c. a b c d. 1 2 3. {long}.", min_tokens=4, max_tokens=5)
        assert kept == ["a b c d."]
        reasons = {"no_letter": 1, "too_short": 1, "too_long": 1}
        assert counts == {"sentences_read": 4, "tokens_read": 17} | reasons

    def test_sentences_of_a_paragraph_are_counted_before_other_filters(self) -> None:
        assert self.filtered("a b c d. b.", min_tokens=4)[0] == ["a b c d."]
        kept, counts = self.filtered("a b c d.", min_tokens=4)
        assert kept == []
        assert counts["short_paragraph"] == 1
        assert self.filtered("a b c d.", min_tokens=4, min_sentences_per_paragraph=1)[0] == ["a b c d."]

    def test_paragraph_separator_is_a_sentence_boundary(self) -> None:
        kept, _ = self.filtered("a heading\u2029a b. \u2029 c d.\u2029", min_tokens=1)
        assert kept == ["a heading.", "a b.", "c d."]

    def test_nothing_in_nothing(self) -> None:
        assert self.filtered(" \u200b\u2029 ") == ([], Counter(sentences_read=0))

    @pytest.mark.parametrize("limits", [{"min_tokens": 0}, {"max_tokens": 3}, {"min_sentences_per_paragraph": -1}])
    def test_impossible_limits(self, limits: dict[str, int]) -> None:
        with pytest.raises(InputError, match=f"{next(iter(limits))}: expected at least"):
            Filters(**limits)

    def test_letters_of_all_scripts(self) -> None:
        assert all(map(has_letter, ["a 1", "1 ж", "क", "字", "ไทย", "한"]))
        assert not any(map(has_letter, ["", "1234 %", "!? 😀", "١٢٣", "१२३"]))


def candidates(paragraphs: list[list[str]], seed: int = 0) -> list[Candidate]:
    return [
        Candidate(
            priority(" ".join(texts), seed),
            number,
            tuple(digest(t.encode()) for t in texts),
            tuple(map(str.encode, texts)),
        )
        for number, texts in enumerate(paragraphs)
    ]


def sampled(
    offers: list[Candidate], capacity: int, deduplicate: bool = True
) -> tuple[list[tuple[int, list[str]]], Sample]:
    sample = Sample(capacity, BytesIO(), deduplicate)
    for offer in offers:
        sample.offer(offer)
    return [(number, [s.decode() for s in sentences]) for number, sentences in sample.drain()], sample


def by_definition(offers: list[Candidate], capacity: int, deduplicate: bool) -> list[tuple[int, list[str]]]:
    """All paragraphs in memory, sorted: what `Sample` promises."""
    seen: set[bytes] = set()
    found: list[tuple[int, list[str]]] = []
    left = capacity
    for offer in sorted(offers, key=lambda offer: (offer.priority, offer.number)):
        kept = []
        for sentence in offer.sentences:
            if left and not (deduplicate and sentence in seen):
                kept.append(sentence.decode())
                seen.add(sentence)
                left -= 1
        if kept:
            found.append((offer.number, kept))
    return found


texts = st.lists(st.lists(st.sampled_from("abcdefghijklmnop"), max_size=5), max_size=40)


class TestSample:
    @given(texts, st.integers(1, 30), st.booleans(), st.integers(-3, 3))
    def test_one_pass_finds_what_sorting_everything_finds(
        self, paragraphs: list[list[str]], capacity: int, deduplicate: bool, seed: int
    ) -> None:
        offers = candidates(paragraphs, seed)
        found, sample = sampled(offers, capacity, deduplicate)
        assert found == by_definition(offers, capacity, deduplicate)
        kept = sum(len(sentences) for _, sentences in found)
        assert kept + sample.duplicates + sample.left_over == sum(map(len, paragraphs))

    @given(texts, st.integers(1, 30), st.randoms())
    def test_it_does_not_depend_on_the_order_of_the_stream(
        self, paragraphs: list[list[str]], capacity: int, random
    ) -> None:  # type: ignore[no-untyped-def]
        offers = candidates(paragraphs)
        shuffled = random.sample(offers, len(offers))
        assert sampled(offers, capacity)[0] == sampled(shuffled, capacity)[0]

    @given(texts, st.integers(1, 10))
    def test_what_lies_beyond_the_threshold_need_not_be_offered(
        self, paragraphs: list[list[str]], capacity: int
    ) -> None:
        offers = candidates(paragraphs)
        sample = Sample(capacity, BytesIO())
        for offer in offers:
            if offer.priority <= sample.threshold:
                sample.offer(offer)
        assert [number for number, _ in sample.drain()] == [
            number for number, _ in by_definition(offers, capacity, True)
        ]

    def test_it_is_uniform(self) -> None:
        """Each of 200 paragraphs is in a sample of 20 for a tenth of 2000 seeds, early ones as often as late ones."""
        drawn = Counter(
            number
            for seed in range(2000)
            for number, _ in sampled(candidates([[f"s{i}"] for i in range(200)], seed), 20)[0]
        )
        deviation = math.sqrt(2000 * 0.1 * 0.9)
        assert all(abs(drawn[number] - 200) < 5 * deviation for number in range(200))
        assert abs(sum(drawn[number] for number in range(100)) - 20_000) < 5 * deviation * math.sqrt(100)

    def test_it_holds_no_more_than_its_capacity(self) -> None:
        sample = Sample(100, BytesIO())
        for offer in candidates([[f"{i}a", f"{i}b", f"{i}c"] for i in range(3000)]):
            sample.offer(offer)
            assert sample.size < 100 + 3
            assert len(sample._owners) == sample.size
        assert sample.full
        assert sum(len(sentences) for _, sentences in sample.drain()) == 100
