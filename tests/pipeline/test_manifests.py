"""Manifests, locks, progress files: the small parts that a run stands on."""

import json
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from x2s import progress
from x2s.config import Config
from x2s.errors import BusyError, UnavailableError
from x2s.files import sweep, whole
from x2s.pipeline.declarations import STAGES, jobs
from x2s.pipeline.layout import Run, fingerprint
from x2s.pipeline.live import clock, describe
from x2s.pipeline.lock import holder, locked
from x2s.pipeline.manifests import Manifest, read_manifest, stale
from x2s.pipeline.worker import ProgressFile

CONFIG = Config.model_validate(
    {
        "output": "runs/x",
        "languages": ["en", "de", "fr"],
        "corpus": {"source": {"kind": "files", "paths": "{language}.txt"}},
    }
)


def manifest(outputs: list[str]) -> Manifest:
    return Manifest(
        stage="corpus",
        language="de",
        settings={"a": 1},
        inputs=[],
        outputs=outputs,
        facts={},
        seed=0,
        seconds=1.5,
        peak_memory_bytes=1,
    )


def test_manifest_round_trip_and_versions(tmp_path):
    manifest(["x"]).write(tmp_path / "m.json")
    read = read_manifest(tmp_path / "m.json")
    assert read == manifest(["x"]).model_copy(update={"finished": read.finished})
    assert {"python", "torch", "transformers", "x2s"} <= set(read.environment)


def test_manifests_that_are_not_true_any_more(tmp_path):
    run = Run(CONFIG, tmp_path)
    (tmp_path / "kept").write_text("")

    def good(language: str, *outputs: str) -> Manifest:
        settings = STAGES["corpus"].settings(CONFIG, language)
        return manifest(list(outputs)).model_copy(update={"settings": settings})

    good("en", "kept").write(run.manifest("corpus", "en"))
    good("de", "kept", "de/corpus").write(run.manifest("corpus", "de"))
    run.manifest("corpus", "fr").write_text("{}")
    manifest(["kept"]).write(run.manifest("report"))
    assert stale(run) == {
        ("corpus", "de"): "de/corpus is gone",
        ("corpus", "fr"): "its manifest cannot be read",
        ("report", None): "its settings changed",
    }


def test_what_killed_processes_left_is_cleared_away(tmp_path):
    (tmp_path / "de" / ".vectors.17.partial").mkdir(parents=True)
    (tmp_path / "de" / ".recording-static").mkdir()
    (tmp_path / ".a.json.18.partial").write_text("half")
    (tmp_path / "de" / ".final.19.old").mkdir()  # Cut off between the two renames: the old content comes back.
    (tmp_path / "de" / ".final.19.old" / "model").write_text("old")
    (tmp_path / "de" / "corpus").mkdir()
    (tmp_path / "de" / ".corpus.20.old").mkdir()
    sweep(tmp_path)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "de",
        "de/corpus",
        "de/final",
        "de/final/model",
    ]


def _hold(folder: Path, ready, release) -> None:
    with locked(folder):
        ready.set()
        release.wait(20)


def test_two_runs_in_one_folder(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready, release = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(tmp_path, ready, release))
    process.start()
    assert ready.wait(20)
    assert f"process {process.pid}" in holder(tmp_path)
    with pytest.raises(BusyError, match=f"process {process.pid}"), locked(tmp_path):
        pass
    process.kill()  # However the holder ends, the lock goes with it.
    process.join()
    assert holder(tmp_path) is None
    with locked(tmp_path):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission_to_write(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(UnavailableError, match="no permission"), locked(tmp_path / "run"):
        pass


def test_an_output_folder_that_is_a_file(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(UnavailableError, match="is a file"), locked(tmp_path / "run"):
        pass


def test_progress_file(tmp_path):
    listener = ProgressFile(tmp_path / "p.json")
    assert json.loads((tmp_path / "p.json").read_text())["state"] == "running"
    loop = progress.Progress("encode de", 100, "sentences", started=time.monotonic() - 10)
    loop.done = 100
    listener(loop)
    state = json.loads((tmp_path / "p.json").read_text())
    assert (state["done"], state["total"], state["process"]) == (100, 100, os.getpid())
    listener.end("failed", "why")
    assert json.loads((tmp_path / "p.json").read_text())["message"] == "why"


def test_words_for_people():
    assert clock(7.4) == "0:07"
    assert clock(3725) == "1:02:05"
    state = {"what": "encode de", "done": 1200, "total": 27000, "unit": "sentences", "seconds_left": 83.0}
    assert describe(state) == "encode de: 1,200 of 27,000 sentences, 1:23 left"
    assert describe({}) == "starting"


def test_jobs_come_after_what_they_need():
    order = jobs(CONFIG)
    for stage, language in order:
        for need in STAGES[stage].needs(CONFIG, language):
            assert order.index(need) < order.index((stage, language))


def test_settings_touch_only_the_stages_that_read_them():
    def prints(config: Config) -> dict:
        return {job: fingerprint(STAGES[job[0]].settings(config, job[1])) for job in jobs(config)}

    before = prints(CONFIG)
    tokenizer = CONFIG.model_copy(update={"corpus": CONFIG.corpus.model_copy(update={"tokenizer": {"de": "icu"}})})
    changed = {job for job, value in prints(tokenizer).items() if value != before[job]}
    assert changed == {("corpus", "de")}
    mode = CONFIG.model_copy(update={"align": CONFIG.align.model_copy(update={"mode": "identical"})})
    assert {job[0] for job, value in prints(mode).items() if value != before[job]} == {"align"}
    layer = CONFIG.model_copy(update={"teacher": CONFIG.teacher.model_copy(update={"layer": 3})})
    assert {job[0] for job, value in prints(layer).items() if value != before[job]} == {"teacher", "static"}


def test_an_interruption_between_two_renames_keeps_the_old_folder(tmp_path, monkeypatch):
    with whole(tmp_path / "final") as beside:
        beside.mkdir()
        (beside / "model").write_text("old")
    replace = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        if self.name.endswith(".partial"):
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), whole(tmp_path / "final") as beside:
        beside.mkdir()
    assert (tmp_path / "final" / "model").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["final"]
