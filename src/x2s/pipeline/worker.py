"""One stage in a process of its own: tells its progress, keeps its log, writes its manifest last."""

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
from x2s.files import explained
from x2s.pipeline.declarations import STAGES
from x2s.pipeline.layout import Run, job_name
from x2s.pipeline.manifests import Manifest

_WRITE_EVERY = 0.3  # seconds
_cores = 1


def cores() -> int:
    """CPU cores that the stage in this process may use."""
    return _cores


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
        beside = self.path.with_name(f".{self.path.name}.new")
        beside.write_text(json.dumps(self.state), encoding="utf-8")
        beside.replace(self.path)


def work(folder: Path, stage_name: str, language: str | None, cores: int = 1) -> int:
    """Run one stage; returns the exit status of the process."""
    global _cores
    _cores = cores
    # Interruption arrives as SIGTERM from the parent; it must pass through the same clean-up as Ctrl-C.
    signal.signal(signal.SIGTERM, _interrupt)
    state: ProgressFile | None = None
    try:
        run = Run.open(folder)
        state = ProgressFile(run.progress(stage_name, language))
        progress.listen(state)
        _work(run, stage_name, language)
        state.end("done")
    except KeyboardInterrupt:
        return _ended(state, "interrupted", "", 130)
    except X2SError as error:
        return _ended(state, "failed", str(error), error.exit_code)
    except MemoryError:
        message = "not enough memory; lower teacher.tokens_per_batch or corpus.max_vocabulary"
        return _ended(state, "failed", message, 1)
    except OSError as error:
        known = explained(error, Path(error.filename or folder))
        if not isinstance(known, X2SError):
            traceback.print_exc()
        return _ended(state, "failed", str(known), 1)
    except Exception as error:
        traceback.print_exc()
        log = folder / "logs" / f"{job_name(stage_name, language)}.log"
        message = f"{type(error).__name__}: {error} (a bug in x2s: please report it with {log})"
        return _ended(state, "failed", message, 1)
    return 0


def _ended(state: ProgressFile | None, how: str, message: str, status: int) -> int:
    """Tell the end where possible: on a full disk neither the state nor the log may take another byte."""
    if state is not None:
        with suppress(OSError):
            state.end(how, message)
    with suppress(OSError):
        print(message or how, file=sys.stderr, flush=True)
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
