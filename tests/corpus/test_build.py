"""From source to corpus: what is written, counted and promised."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from x2s import progress
from x2s.corpus import CorpusReport, FileSource, SentenceFile, Vocabulary, build_corpus
from x2s.corpus.parallel import ordered_map
from x2s.errors import FileFormatError, InputError, UnavailableError

WORDS = [
    "the",
    "a",
    "red",
    "old",
    "small",
    "house",
    "tree",
    "river",
    "child",
    "woman",
    "sees",
    "finds",
    "likes",
    "under",
    "over",
    "near",
    "not",
    "never",
    "always",
    "today",
]


def paragraph(random: random.Random, sentences: int, low: int = 3, high: int = 14) -> str:
    return " ".join(
        " ".join(random.choices(WORDS, k=random.randint(low, high))).capitalize() + "." for _ in range(sentences)
    )


class Generated:
    """A stream of paragraphs made as they are read."""

    name, revision, licence = "generated", "1", "none"

    def __init__(self, count: int, sentences: int = 3) -> None:
        self.count = count
        self.sentences = sentences
        self.read = 0

    def paragraphs(self) -> Iterator[str]:
        generator = random.Random(0)
        for number in range(1, self.count + 1):
            self.read = number
            yield paragraph(generator, generator.randint(1, self.sentences))


def text_file(folder: Path, *paragraphs: str) -> FileSource:
    (folder / "a.txt").write_text("\n".join(paragraphs), encoding="utf-8")
    return FileSource(folder / "a.txt")


def stored(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


SENTENCE = "The old red house near the river is not small."


class TestOutputs:
    def test_sentences_vocabulary_and_report_agree(self, tmp_path: Path) -> None:
        report = build_corpus(Generated(400), "en", tmp_path / "new" / "corpus", min_count=3, seed=5)
        folder = tmp_path / "new" / "corpus"
        assert sorted(path.name for path in folder.iterdir()) == ["corpus.json", "sentences.parquet", "vocabulary.tsv"]
        sentences = list(SentenceFile(folder / "sentences.parquet"))
        vocabulary = Vocabulary.load(folder / "vocabulary.tsv")
        assert CorpusReport.load(folder / "corpus.json") == report
        assert report.sentences == len(sentences) == len({sentence.text for sentence in sentences})
        assert report.tokens == sum(len(sentence.tokens) for sentence in sentences)
        assert report.paragraphs == len({sentence.paragraph for sentence in sentences})
        assert report.vocabulary_size == len(vocabulary)
        assert report.vocabulary_coverage == vocabulary.counts.sum() / report.tokens
        assert report.sentences_read == report.sentences + sum(report.dropped.values())
        assert list(report.dropped) == [
            "short_paragraph", "no_letter", "too_short", "too_long", "duplicate", "not_sampled"
        ]  # fmt: skip
        assert (report.source, report.revision, report.licence, report.seed) == ("generated", "1", "none", 5)
        assert report.tools == {"segmenter": "icu", "tokenizer": "icu"}

    def test_sentences_of_a_paragraph_stay_together_and_in_order(self, tmp_path: Path) -> None:
        paragraphs = [f"{SENTENCE} It is house number {i}a of the town. It is {i}b then, I think." for i in range(50)]
        build_corpus(text_file(tmp_path, *paragraphs), "en", tmp_path / "c", deduplicate=False)
        found = [sentence.paragraph for sentence in SentenceFile(tmp_path / "c" / "sentences.parquet")]
        assert found[::3] == found[1::3] == found[2::3]
        assert sorted(found[::3]) == list(range(50)) != found[::3]
        texts = [sentence.text for sentence in SentenceFile(tmp_path / "c" / "sentences.parquet")]
        assert " ".join(texts[:3]) == paragraphs[found[0]]

    def test_text_is_normalised_and_cased_as_written(self, tmp_path: Path) -> None:
        source = text_file(tmp_path, "Das  CAFE\u0301 \u200bam Fluss ist\xa0heute leider zu\xadgesperrt. " * 2)
        report = build_corpus(source, "de", tmp_path / "c", min_count=1)
        (sentence,) = SentenceFile(tmp_path / "c" / "sentences.parquet")
        assert sentence.text == "Das CAFÉ am Fluss ist heute leider zugesperrt."
        assert sentence.tokens[:2] == ("Das", "CAFÉ")
        assert "café" in Vocabulary.load(tmp_path / "c" / "vocabulary.tsv").words
        assert report.dropped["duplicate"] == 1
        build_corpus(source, "de", tmp_path / "c", min_count=1, lowercase=False)
        assert "CAFÉ" in Vocabulary.load(tmp_path / "c" / "vocabulary.tsv").words

    def test_other_files_in_the_folder_stay(self, tmp_path: Path) -> None:
        (tmp_path / "notes.md").write_text("mine")
        build_corpus(Generated(50), "en", tmp_path, min_count=1)
        assert (tmp_path / "notes.md").read_text() == "mine"


class TestSampling:
    def test_same_bytes_again_and_for_any_number_of_processes(self, tmp_path: Path) -> None:
        for name, processes in (("a", 1), ("b", 2), ("c", 3)):
            build_corpus(Generated(8000), "en", tmp_path / name, max_sentences=500, sampling="all", processes=processes)
        assert stored(tmp_path / "a") == stored(tmp_path / "b") == stored(tmp_path / "c")
        report = CorpusReport.load(tmp_path / "a" / "corpus.json")
        assert report.sentences == 500
        assert report.paragraphs_read == 8000
        assert report.paragraphs_passed_over > 1000

    def test_seed(self, tmp_path: Path) -> None:
        for seed in (0, 1):
            build_corpus(Generated(300), "en", tmp_path / str(seed), seed=seed)
        zero, one = ([s.text for s in SentenceFile(tmp_path / n / "sentences.parquet")] for n in "01")
        assert zero != one
        assert sorted(zero) == sorted(one)

    def test_a_stream_is_read_only_as_far_as_needed(self, tmp_path: Path) -> None:
        source = Generated(10**9)
        report = build_corpus(source, "en", tmp_path, max_sentences=1000)
        assert report.sentences == 1000
        assert report.options["sampling"] == "first"
        assert report.paragraphs_read < source.read < 50_000

    def test_a_sample_does_not_depend_on_the_order_of_files(self, tmp_path: Path) -> None:
        generator = random.Random(1)
        paragraphs = [paragraph(generator, 3, 7) for _ in range(500)]
        for name, texts in (("one", paragraphs), ("two", paragraphs[::-1])):
            (tmp_path / name).mkdir()
            build_corpus(text_file(tmp_path / name, *texts), "en", tmp_path / name, max_sentences=300)
        one, two = ([s.text for s in SentenceFile(tmp_path / n / "sentences.parquet")] for n in ("one", "two"))
        assert one == two

    def test_memory_depends_on_the_sample_not_on_the_source(self, tmp_path: Path) -> None:
        script = (
            "import resource, sys; sys.path.insert(0, sys.argv[1]); from test_build import Generated; "
            "from x2s.corpus import build_corpus; "
            "build_corpus(Generated(int(sys.argv[2])), 'en', sys.argv[3], max_sentences=500, sampling='all'); "
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        peaks = []
        for count in (6000, 60_000):
            command = [sys.executable, "-c", script, str(Path(__file__).parent), str(count), str(tmp_path)]
            peaks.append(int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) / 1024)
        assert peaks[1] < peaks[0] + 15  # MiB


class TestNothingLeft:
    def test_empty_file(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"files a\.txt: the corpus is empty, no paragraph was read"):
            build_corpus(text_file(tmp_path, "", " ", ""), "en", tmp_path / "c")

    def test_all_is_dropped_and_it_says_by_which_filter(self, tmp_path: Path) -> None:
        source = text_file(tmp_path, *["A heading"] * 9, "Too short. Also short.", "1 2 3. 4 5 6. 7.", "Short. " * 3)
        with pytest.raises(InputError) as caught:
            build_corpus(source, "en", tmp_path / "c")
        message = " ".join(str(caught.value).split())
        assert "no sentence is left of 17 in 12 paragraphs" in message
        assert "9 in paragraphs of fewer than 2 sentences 3 without a letter 5 of fewer than 7 tokens" in message
        assert "To keep some: lower min_sentences_per_paragraph" in message
        assert "; or lower min_tokens" in message

    def test_one_sentence(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="in paragraphs of fewer than 2 sentences"):
            build_corpus(text_file(tmp_path, SENTENCE), "en", tmp_path / "c")
        message = r"the vocabulary is empty\. 1 sentence with 10 distinct words .*'the', occurs 2 times.*min_count=10"
        with pytest.raises(InputError, match=message):
            build_corpus(text_file(tmp_path, SENTENCE), "en", tmp_path / "c", min_sentences_per_paragraph=1)
        assert not (tmp_path / "c" / "corpus.json").exists()

    def test_broken_source_leaves_an_old_corpus_alone(self, tmp_path: Path) -> None:
        build_corpus(Generated(50), "en", tmp_path / "c", min_count=1)
        before = stored(tmp_path / "c")
        (tmp_path / "a.txt").write_bytes(b"Gut.\nM\xfcnchen.\n")
        with pytest.raises(FileFormatError, match=r"a\.txt, line 2"):
            build_corpus(FileSource(tmp_path / "a.txt"), "de", tmp_path / "c", processes=2)
        assert stored(tmp_path / "c") == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_sentences": 0}, "max_sentences: expected at least 1, got 0"),
        ({"min_count": 0}, "min_count: expected"),
        ({"max_vocabulary": -1}, "max_vocabulary: expected"),
        ({"processes": 0}, "processes: expected at least 1"),
        ({"min_tokens": 600}, "max_tokens: expected at least min_tokens=600"),
        ({"segmenter": "isu"}, "unknown sentence splitter 'isu'"),
        ({"tokenizer": "moses"}, "unknown tokenizer 'moses'"),
    ],
)
def test_impossible_options(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message).replace("'", ".")):
        build_corpus(Generated(5), "en", tmp_path, **options)  # type: ignore[arg-type]


def test_unknown_language(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown language"):
        build_corpus(Generated(5), "xxyy", tmp_path)


def test_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(UnavailableError, match="no permission to write there"):
        build_corpus(Generated(5), "en", tmp_path / "c")


def test_full_disk(tmp_path: Path) -> None:
    class Full(Generated):
        def paragraphs(self) -> Iterator[str]:
            raise OSError(28, "No space left on device")

    with pytest.raises(UnavailableError, match="no space left on the disk"):
        build_corpus(Full(5), "en", tmp_path / "c")


class TestProgress:
    @pytest.fixture
    def seen(self) -> Iterator[list[tuple[str, int, int | None, str]]]:
        states: list[tuple[str, int, int | None, str]] = []
        progress.listen(lambda state: states.append((state.what, state.done, state.total, state.note)))
        yield states
        progress.listen(None)

    def test_of_files_by_paragraphs(self, tmp_path: Path, seen: list[tuple[str, int, int | None, str]]) -> None:
        generator = random.Random(0)
        build_corpus(text_file(tmp_path, *(paragraph(generator, 3) for _ in range(5000))), "en", tmp_path / "c")
        states = [state for state in seen if state[0] == "corpus en"]
        assert states[-1][1:3] == (5000, 5000)
        assert states[-1][3].endswith("sentences kept")
        assert all(total is None or 4000 < total < 7000 for _, _, total, _ in states[5:])

    def test_of_streams_by_sentences(self, tmp_path: Path, seen: list[tuple[str, int, int | None, str]]) -> None:
        build_corpus(Generated(10**9), "en", tmp_path / "c", max_sentences=1000)
        assert [state for state in seen if state[0] == "corpus en"][-1][1:3] == (1000, 1000)


def slow_square(number: int) -> int:
    time.sleep(0.02 * (number % 3))
    return number * number


def killed(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


class TestOrderedMap:
    @pytest.mark.parametrize("processes", [1, 3])
    def test_order_and_window(self, processes: int) -> None:
        handed_out: list[int] = []
        seen_at: list[int] = []

        def items() -> Iterator[int]:
            for number in range(30):
                seen_at.append(len(handed_out))
                yield number

        handed_out.extend(ordered_map(slow_square, items(), processes, window=4))
        assert handed_out == [number * number for number in range(30)]
        assert seen_at == [0] * 4 + list(range(1, 27))

    def test_a_killed_worker_is_explained(self) -> None:
        with pytest.raises(UnavailableError, match=r"worker process was killed.*fewer than 2 processes"):
            list(ordered_map(killed, range(8), 2))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_interrupt_leaves_no_process_and_no_partial_file(tmp_path: Path, how: signal.Signals) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_build import Generated\nfrom x2s.corpus import build_corpus\nfrom x2s import progress\n"
        "def main():\n"
        "    progress.listen(lambda state: print(state.done, flush=True))\n"
        f"    build_corpus(Generated(10**9), 'en', {str(tmp_path / 'c')!r}, sampling='all', processes=2)\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    parent = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    while int(parent.stdout.readline()) < 1000:
        pass
    children = psutil.Process(parent.pid).children(recursive=True)
    assert len(children) >= 2
    parent.send_signal(how)
    _, errors = parent.communicate(timeout=60)
    assert parent.returncode != 0
    _, alive = psutil.wait_procs(children, timeout=30)
    assert not alive
    assert not list((tmp_path / "c").glob("*"))
    if how is signal.SIGINT:
        assert errors.rstrip().endswith("KeyboardInterrupt")
        assert errors.count("Traceback") <= 2


def test_report_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no corpus report there"):
        CorpusReport.load(tmp_path / "corpus.json")
    (tmp_path / "corpus.json").write_text(json.dumps({"language": "de"}))
    with pytest.raises(FileFormatError, match="expected a corpus report"):
        CorpusReport.load(tmp_path / "corpus.json")
