"""Whole runs by the command line: complete, go on, fail well."""

import os
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
from tests.pipeline.conftest import LANGUAGES, Place, make_place

from x2s.pipeline.manifests import read_manifest
from x2s.scores import read_scores
from x2s.vectors import WordVectors


def started(output: str) -> set[str]:
    """Stages that a command did, from its lines."""
    return set(re.findall(r"^✓ (\S+)", output, flags=re.MULTILINE))


def test_a_run_makes_everything_it_promises(completed):
    place, said = completed
    out = place.output
    assert str(out / "report.html") in said.replace("\n", "")
    assert {"teacher", "report", *(f"static-{code}" for code in LANGUAGES), "evaluate-de"} <= started(said)
    for code in LANGUAGES:
        vectors = WordVectors.load(out / code / "final")
        assert vectors.language == code
        assert len(vectors) > 50
        for method in ("aggregated", "x2static", "whitened_context", "combined"):
            words = WordVectors.load(out / code / "vectors" / method).words
            assert set(words) <= set(vectors.words) if method == "x2static" else words == vectors.words
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "A &lt;tiny&gt; run" in page
    assert "<tiny>" not in page


def test_scores_carry_what_makes_them_comparable(completed):
    records = read_scores(completed[0].output / "scores" / "de.jsonl")
    assert {record.method for record in records} >= {"combined/unaligned", "combined/aligned", "combined/selected"}
    for record in records:
        assert record.seed == (0 if record.method.startswith("x2static") else None)
        assert record.data_revision
        assert record.environment["torch"]
        assert record.languages == ("de", "en")
    assert read_scores(completed[0].output / "scores" / "fr.jsonl") == []
    manifest = read_manifest(completed[0].output / "manifests" / "evaluate-fr.json")
    assert any("no dictionary fr-en" in note for note in manifest.facts["notes"])


def test_manifests_tell_time_memory_and_inputs(completed):
    manifest = read_manifest(completed[0].output / "manifests" / "static-de.json")
    assert manifest.seconds > 0
    assert manifest.peak_memory_bytes > 10**7
    assert manifest.inputs == ["manifests/teacher.json", "manifests/corpus-de.json"]
    assert manifest.settings["static"]["methods"][0] == "aggregated"


def test_the_hub_is_only_normalised(completed):
    from x2s.align import normalise

    out = completed[0].output / "en"
    raw = WordVectors.load(out / "vectors" / "combined")
    assert np.array_equal(WordVectors.load(out / "final").matrix, normalise(raw.matrix))


def test_a_second_run_does_nothing_and_says_so(completed):
    place, _ = completed
    before = {path: path.stat().st_mtime_ns for path in place.output.rglob("*.safetensors")}
    again = place.x2s("run", "run.yaml")
    assert again.returncode == 0
    assert "Nothing to do" in again.stdout
    assert {path: path.stat().st_mtime_ns for path in place.output.rglob("*.safetensors")} == before
    assert "Nothing to do" in place.x2s("plan", "run.yaml").stdout


def test_only_what_a_change_touches_is_done_again(copy):
    assert "Nothing to do" in copy.x2s("plan", "run.yaml").stdout  # A moved run is still complete.
    copy.configure(evaluate__csls_k=5)
    planned = copy.x2s("plan", "run.yaml").stdout
    assert "evaluate-de    its settings changed" in planned
    assert "static" not in planned
    shutil.rmtree(copy.output / "fr" / "aligned" / "x2static")
    planned = copy.x2s("plan", "run.yaml").stdout
    assert "align-fr       fr/aligned/x2static is gone" in planned
    assert set(re.findall(r"^  (\S+)", planned, flags=re.MULTILINE)) == {
        "align-fr", "evaluate-de", "evaluate-fr", "report",
    }  # fmt: skip
    done = copy.x2s("run", "run.yaml")
    assert done.returncode == 0, done.stderr
    assert "align-fr is done again: fr/aligned/x2static is gone" in done.stdout
    assert started(done.stdout) == {"align-fr", "evaluate-de", "evaluate-fr", "report"}


def test_changed_text_is_read_again(tmp_path, tiny_encoder_folder):
    place = make_place(tmp_path, tiny_encoder_folder)
    assert started(place.x2s("corpus", "run.yaml").stdout) == {f"corpus-{code}" for code in LANGUAGES}
    time.sleep(1)
    with (place.folder / "texts" / "fr.txt").open("a", encoding="utf-8") as file:
        file.write("Bado bifo bado bifo bado bifo bado. Gulo bado bifo gulo bado bifo gulo.\n" * 9)
    assert "what it reads is new" in place.x2s("plan", "run.yaml").stdout
    done = place.x2s("corpus", "run.yaml")
    assert started(done.stdout) == {"corpus-fr"}
    (place.folder / "texts" / "fr.txt").rename(place.folder / "texts" / "fr.old")
    (place.folder / "texts" / "de.txt").rename(place.folder / "texts" / "fr.txt")
    assert place.x2s("plan", "run.yaml").returncode == 2


def test_two_runs_with_one_seed_are_bit_identical(completed, tmp_path, tiny_encoder_folder):
    other = make_place(tmp_path, tiny_encoder_folder)
    done = other.x2s("align", "run.yaml", "-l", "de")
    assert done.returncode == 0, done.stderr
    for method in ("aggregated", "x2static", "combined"):
        one, two = (WordVectors.load(p.output / "de" / "aligned" / method) for p in (completed[0], other))
        assert one.words == two.words
        assert np.array_equal(one.matrix, two.matrix)


def test_a_failing_language_stops_only_what_depends_on_it(tmp_path, tiny_encoder_folder):
    place = make_place(tmp_path, tiny_encoder_folder)
    (place.folder / "texts" / "fr.txt").write_bytes(b"Bon\xffjour\n")
    done = place.x2s("run", "run.yaml")
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    assert "corpus-fr:" in done.stderr
    assert "fr.txt, line 1" in done.stderr
    assert (place.output / "de" / "final").exists()
    assert not (place.output / "fr" / "final").exists()
    (place.folder / "texts" / "fr.txt").unlink()
    shutil.copy(place.folder / "texts" / "de.txt", place.folder / "texts" / "fr.txt")
    done = place.x2s("run", "run.yaml")
    assert done.returncode == 0, done.stderr
    assert started(done.stdout) == {"corpus-fr", "static-fr", "align-fr", "evaluate-fr", "report"}


@pytest.mark.parametrize(
    ("number", "moment"),
    [
        (signal.SIGINT, "manifests/corpus-*.json"),
        (signal.SIGTERM, "progress/*.json"),
        (signal.SIGKILL, "logs/*.log"),  # The first stage has just been started.
        (signal.SIGKILL, "manifests/static-*.json"),
    ],
    ids=["SIGINT", "SIGTERM", "SIGKILL at once", "SIGKILL later"],
)
def test_an_interrupted_run_leaves_no_process_and_goes_on(place, number, moment):
    import psutil

    process = subprocess.Popen(
        place.command("run", "run.yaml"),
        cwd=place.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # The signal reaches this process alone, not the stages.
    )
    manifests = place.output / "manifests"
    deadline = time.monotonic() + 120
    while not list(place.output.glob(moment)) and time.monotonic() < deadline:
        time.sleep(0.02)
    stages: list[psutil.Process] = []
    while not stages and time.monotonic() < deadline:
        stages = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == (130 if number != signal.SIGKILL else -9), said
    if number != signal.SIGKILL:
        assert "Interrupted" in said
        assert "Traceback" not in said
    psutil.wait_procs(stages, timeout=20)
    assert not [stage for stage in stages if stage.is_running()]
    finished = {path.stem for path in manifests.glob("*.json")}
    done = place.x2s("run", "run.yaml")
    assert done.returncode == 0, done.stderr
    assert not finished & started(done.stdout)
    assert not list(place.output.rglob("*.partial"))


def test_two_runs_at_once(copy):
    from x2s.pipeline.lock import locked

    with locked(copy.output):
        second = copy.x2s("run", "run.yaml")
    assert second.returncode == 1
    assert "another run works here" in second.stderr
    assert "Traceback" not in second.stderr


def test_status_and_looking_at_words(completed):
    place, _ = completed
    said = place.x2s("status", "out").stdout
    assert len(re.findall(r"\bdone\b", said)) == 1 + 3 + 3 + 3 + 2 + 1
    word = WordVectors.load(place.output / "de" / "final").words[3]
    translations = place.x2s("translate", word, "--from", "de", "--to", "en", "--run", "out", "-k", "3")
    assert translations.returncode == 0, translations.stderr
    assert len(translations.stdout.split("\n")) == 4
    near = place.x2s("neighbours", word.upper(), "--run", "out")
    assert near.returncode == 0, near.stderr
    assert word in near.stdout
    unknown = place.x2s("neighbours", "qqqqq", "--run", "out")
    assert unknown.returncode == 1
    assert "is in no vocabulary" in unknown.stderr


def test_export_loads_in_gensim(completed, tmp_path):
    from gensim.models import KeyedVectors

    place, _ = completed
    done = place.x2s("export", str(tmp_path), "--run", "out")
    assert done.returncode == 0, done.stderr
    vectors = WordVectors.load(place.output / "fr" / "final")
    loaded = KeyedVectors.load_word2vec_format(str(tmp_path / "fr.vec"))
    assert tuple(loaded.index_to_key) == vectors.words
    assert np.allclose(loaded.vectors, vectors.matrix, atol=1e-6)


def bad(place: Place, *messages: str, status: int = 1, command: tuple[str, ...] = ("run", "run.yaml")) -> None:
    done = place.x2s(*command)
    said = done.stdout + done.stderr
    assert done.returncode == status, said
    for message in messages:
        assert message in said.replace("\n", " "), said
    assert "Traceback" not in said
    assert len(done.stderr.splitlines()) < 25


@pytest.fixture
def place(tmp_path, tiny_encoder_folder) -> Place:
    return make_place(tmp_path, tiny_encoder_folder)


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        (b"", ("corpus-de:", "the corpus is empty", "finished stages are kept")),
        (b"Nur ein Satz mit genau sieben Worten hier.\n", ("corpus-de:", "sentence", "min_sentences_per_paragraph")),
        (b"\x89PNG\x00\x01\x02\x00\x00" * 50, ("corpus-de:", "de.txt", "binary")),
        ("Ein alter Bäcker\n".encode("latin-1"), ("corpus-de:", "de.txt, line 1", "UTF-8")),
    ],
    ids=["empty", "one sentence", "binary", "latin-1"],
)
def test_bad_text(place, content, messages):
    (place.folder / "texts" / "de.txt").write_bytes(content)
    bad(place, *messages, command=("corpus", "run.yaml", "-l", "de"))


def test_mistakes_that_are_found_before_anything_starts(place):
    good = (place.folder / "run.yaml").read_text()

    def changed(**changes: object) -> None:
        (place.folder / "run.yaml").write_text(good)
        place.configure(**changes)

    changed(languages=["en", "de", "german"])
    bad(place, "unknown language 'german'", "Did you mean de (German)?", status=2)
    changed(corpus__source={"kind": "files", "paths": "nowhere/{language}.txt"}, corpus__tokenizer={"de": "jiebaa"})
    bad(place, "nothing matches", "corpus.tokenizer.de", "jieba", status=2)
    changed(evaluate__lexicons=[{"format": "muse", "path": "typo/{source}-{target}.txt"}])
    bad(place, "matches no pair of languages", status=2)
    changed(align__dictionary="typo/{source}-{target}.txt")
    bad(place, "align.dictionary", "matches no pair of languages", status=2)
    bad(place, "no such configuration file", "run.yaml", status=2, command=("run", "rum.yaml"))
    bad(place, "stage static runs for en, de, fr", status=2, command=("static", "run.yaml", "-l", "xx"))
    (place.folder / "a-file").write_text("")
    changed(output="a-file")
    bad(place, "a-file: expected a folder")
    assert not place.output.exists()


def test_bad_teachers(place):
    place.configure(teacher__layer=9)
    bad(place, "has the layers 0 (embeddings) to 4, got 9", command=("teacher", "run.yaml"))
    place.configure(teacher__layer=1, teacher__model="./nowhere")
    bad(place, "nowhere", command=("teacher", "run.yaml"))
    slow = place.folder / "slow-tokenizer"
    shutil.copytree(yaml_model(place), slow)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (slow / name).unlink(missing_ok=True)
    place.configure(teacher__model=str(slow))
    bad(place, "tokenizer", command=("teacher", "run.yaml"))


def yaml_model(place: Place) -> str:
    import yaml

    return yaml.safe_load((place.folder / "run.yaml.first").read_text())["teacher"]["model"]


def test_a_dictionary_with_no_known_word(copy):
    path = copy.folder / "none" / "de-en.txt"
    path.parent.mkdir()
    path.write_text("xyzzy\tplugh\n")
    copy.configure(evaluate__lexicons=[{"format": "muse", "path": str(path.parent / "{source}-{target}.txt")}])
    bad(copy, "evaluate-de:", "xyzzy", "finished stages are kept")


def test_vectors_of_unequal_dimension(copy):
    folder = copy.output / "en" / "vectors" / "aggregated"
    vectors = WordVectors.load(folder)
    vectors.with_matrix(vectors.matrix[:, :-1]).save(folder)
    shutil.rmtree(copy.output / "de" / "aligned" / "aggregated")
    bad(copy, "align-de:", "31", "32", command=("align", "run.yaml", "-l", "de"))


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="needs prlimit to limit the size of files")
def test_a_full_disk(place):
    command = " ".join(place.command("corpus", "run.yaml", "-l", "de"))
    # A limit on file size stands for a full disk: the write fails with EFBIG or, ignored, with a short write.
    done = subprocess.run(
        ["bash", "-c", f"trap '' XFSZ; ulimit -f 8; {command}"],
        cwd=place.folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "corpus-de:" in done.stderr
    assert "Traceback" not in done.stderr
    done = place.x2s("corpus", "run.yaml", "-l", "de")
    assert done.returncode == 0, done.stderr


def test_the_users_own_file_is_never_overwritten(place):
    place.output.mkdir()
    own = place.output / "config.yaml"
    own.write_text("# mine\n" + (place.folder / "run.yaml").read_text())
    bad(place, "Move your file out of the output folder", status=2, command=("run", "out/config.yaml"))
    assert own.read_text().startswith("# mine")


def test_plan_writes_nothing(place):
    planned = place.x2s("plan", "run.yaml")
    assert "13 stages to do" in planned.stdout, planned.stderr
    assert not place.output.exists()
