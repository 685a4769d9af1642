"""One stage in a process of its own: tells its progress, keeps its log, writes its manifest last."""

import ctypes
import json
import os
import resource
import signal
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from x2s import progress
from x2s.errors import X2SError
from x2s.files import explained, whole
from x2s.pipeline.declarations import STAGES
from x2s.pipeline.layout import Run, job_name
from x2s.pipeline.manifests import Manifest

_WRITE_EVERY = 0.3  # seconds
_cores = 1


def cores() -> int:
    """CPU cores that the stage in this process may use."""
    return _cores


_PR_SET_PDEATHSIG = 1


class ProgressFile:
    """A progress listener that keeps the state of a stage in a small file for `x2s run` and `x2s status`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.state: dict[str, Any] = {"state": "running", "process": os.getpid(), "started": time.time()}
        self._written = 0.0
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write()

    def __call__(self, now: progress.Progress) -> None:
        """Take the state of a loop."""
        finished = now.total is not None and now.done >= now.total
        if time.monotonic() - self._written < _WRITE_EVERY and not finished:
            return
        self.state.update(
            what=now.what, done=now.done, total=now.total, unit=now.unit, note=now.note, seconds_left=now.seconds_left
        )
        self._write()

    def end(self, state: str, message: str = "") -> None:
        """The stage is `done`, `failed` or `interrupted`."""
        self.state.update(state=state, message=message, ended=time.time())
        self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        with whole(self.path) as beside:
            beside.write_text(json.dumps(self.state), encoding="utf-8")


def work(folder: Path, stage_name: str, language: str | None, cores: int = 1) -> int:
    """Run one stage; returns the exit status of the process."""
    global _cores
    _cores = cores
    _die_with_parent()
    # Interruption arrives as SIGTERM from the parent; it must pass through the same clean-up as Ctrl-C.
    signal.signal(signal.SIGTERM, _interrupt)
    run = Run.open(folder)
    state = ProgressFile(run.progress(stage_name, language))
    progress.listen(state)
    try:
        _work(run, stage_name, language)
    except KeyboardInterrupt:
        state.end("interrupted")
        return 130
    except X2SError as error:
        return _failed(state, str(error), error.exit_code)
    except MemoryError:
        return _failed(state, "not enough memory; lower teacher.tokens_per_batch or corpus.max_vocabulary", 1)
    except OSError as error:
        known = explained(error, Path(error.filename or folder))
        if not isinstance(known, X2SError):
            traceback.print_exc()
        return _failed(state, str(known), 1)
    except Exception as error:
        traceback.print_exc()
        log = run.log(stage_name, language)
        return _failed(state, f"{type(error).__name__}: {error} (a bug in x2s: please report it with {log})", 1)
    state.end("done")
    return 0


def _failed(state: ProgressFile, message: str, status: int) -> int:
    print(message, file=sys.stderr)
    with suppress(X2SError, OSError):
        state.end("failed", message)
    return status


def _work(run: Run, stage_name: str, language: str | None) -> None:
    stage = STAGES[stage_name]
    config = run.config
    start = time.monotonic()
    outcome = stage.run(run, language)
    needed = [f"manifests/{job_name(*job)}.json" for job in stage.needs(config, language)]
    Manifest(
        stage=stage_name,
        language=language,
        settings=stage.settings(config, language),
        inputs=[*needed, *stage.files(config, language)],
        outputs=[str(path.relative_to(run.folder)) for path in outcome.outputs],
        facts=outcome.facts,
        seed=config.seed,
        seconds=round(time.monotonic() - start, 3),
        peak_memory_bytes=_peak_memory(),
    ).write(run.manifest(stage_name, language))


def _peak_memory() -> int:
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    unit = 1 if sys.platform == "darwin" else 1024
    return int(max(own, children) * unit)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _die_with_parent() -> None:
    """Ask Linux for SIGTERM when the parent is killed, so that no orphan goes on writing; elsewhere do nothing."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
