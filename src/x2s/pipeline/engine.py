"""Drives the packaged Snakefile through Snakemake's API. Nothing else here knows Snakemake."""

import logging
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from x2s.config import Config
from x2s.errors import X2SError
from x2s.pipeline.declarations import STAGES, Job
from x2s.pipeline.layout import fingerprint, job_name

SNAKEFILE = Path(__file__).with_name("Snakefile")
PLANNED = "X2S_PLANNED_CONFIG"
"""Environment variable that names the configuration to plan with, while the stored one stays as it is."""


# What the Snakefile asks for.


def command(stage: str) -> str:
    """Shell command of a rule, with Snakemake's placeholders; `exec` makes the stage a child that can be stopped."""
    language = " --language {wildcards.language}" if STAGES[stage].per_language else ""
    name = f"{stage}-{{wildcards.language}}" if STAGES[stage].per_language else stage
    python = shlex.quote(sys.executable).replace("{", "{{").replace("}", "}}")
    # Threads that wait actively for one another crawl as soon as something else uses a core.
    return (
        f"mkdir -p logs; export OMP_NUM_THREADS={{threads}} OMP_WAIT_POLICY=PASSIVE; "
        f"exec {python} -m x2s.cli work {stage}{language} --cores {{threads}} --parent $PPID > logs/{name}.log 2>&1"
    )


def manifest_names(config: Config, stage: str, language: str | None = None) -> list[str]:
    """Manifests of the jobs that a stage needs."""
    return [f"manifests/{job_name(*job)}.json" for job in STAGES[stage].needs(config, language)]


def user_files(config: Config, stage: str, language: str | None = None) -> list[str]:
    """The user's files that a stage reads."""
    return STAGES[stage].files(config, language)


def slice_of(config: Config, stage: str, language: str | None = None) -> str:
    """Fingerprint of the settings that a stage reads."""
    return fingerprint(STAGES[stage].settings(config, language))


# What the command line asks for.


@dataclass
class Events(logging.Handler):
    """What Snakemake said: the jobs it starts (in a dry run: would start), and why."""

    on_job: Callable[[Job], None] = lambda job: None
    reasons: dict[Job, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(logging.DEBUG)

    __hash__ = logging.Handler.__hash__

    def emit(self, record: logging.LogRecord) -> None:
        """Take one log record; structured ones carry `event`."""
        from snakemake_interface_logger_plugins.common import LogEvent

        event = getattr(record, "event", None)
        if event == LogEvent.JOB_INFO and record.rule_name in STAGES:  # type: ignore[attr-defined]
            wildcards = dict(getattr(record, "wildcards", None) or {})
            job = (record.rule_name, wildcards.get("language"))  # type: ignore[attr-defined]
            self.reasons[job] = str(getattr(record, "reason", ""))
            self.on_job(job)


@dataclass(frozen=True)
class Pending:
    """A job that has to run, and Snakemake's reason."""

    job: Job
    reason: str


def execute(
    folder: Path, targets: list[Job], cores: int, on_job: Callable[[Job], None], undone: Sequence[Job] = ()
) -> bool:
    """Run what `targets` (empty: everything) need. Returns whether all of it is now complete.

    A failed stage stops what depends on it and nothing else. `undone` are jobs to take as not done although their
    manifests are there.

    Raises:
        KeyboardInterrupt: After the stages' processes have been stopped.
        X2SError: Snakemake refused the workflow; the message is its own.
    """
    with _interruption() as interruption:

        def started(job: Job) -> None:
            interruption.install()  # Snakemake's scheduler has put its own handler of SIGTERM in place by now.
            on_job(job)

        events = Events(started)
        with _session(folder, targets, cores, events, dry_run=False, forced=undone) as workflow:
            from snakemake.exceptions import WorkflowError
            from snakemake.settings.types import ExecutionSettings

            settings = ExecutionSettings(keep_going=True, lock=False, ignore_incomplete=True, latency_wait=2)
            try:
                workflow.execute_workflow(executor="local", execution_settings=settings)
                complete = True
            except WorkflowError as error:
                if not events.reasons:
                    raise X2SError(f"the workflow could not start: {error}") from error
                complete = False
    if interruption.received:  # Snakemake takes it for a failure or even an ordinary end.
        raise KeyboardInterrupt
    return complete


def pending(folder: Path, targets: list[Job], undone: dict[Job, str] | None = None) -> list[Pending]:
    """The jobs that `execute` would run, in order.

    Args:
        folder: The output folder.
        targets: What is wanted; empty is everything.
        undone: Jobs to take as not done although their manifests are there, with the reasons.
    """
    events, undone = Events(), undone or {}
    with _session(folder, targets, 1, events, dry_run=True, forced=list(undone)) as workflow:
        from snakemake.settings.types import ExecutionSettings

        workflow.execute_workflow(
            executor="local",
            pseudo_executor="dryrun",
            execution_settings=ExecutionSettings(lock=False, ignore_incomplete=True),
        )
    found = [Pending(job, undone.get(job, reason)) for job, reason in events.reasons.items()]
    order = list(STAGES)
    return sorted(found, key=lambda entry: (order.index(entry.job[0]), entry.job[1] or ""))


@contextmanager
def _session(
    folder: Path, targets: list[Job], cores: int, events: Events, *, dry_run: bool, forced: Sequence[Job] = ()
) -> Iterator[Any]:
    from snakemake.api import SnakemakeApi
    from snakemake.exceptions import WorkflowError
    from snakemake.logging import logger
    from snakemake.settings.enums import RerunTrigger
    from snakemake.settings.types import (
        ConfigSettings,
        DAGSettings,
        OutputSettings,
        Quietness,
        ResourceSettings,
        StorageSettings,
        WorkflowSettings,
    )

    here = Path.cwd()
    output = OutputSettings(dryrun=dry_run, quiet={Quietness.ALL}, enable_file_logging=False)
    try:
        with SnakemakeApi(output) as api:
            for handler in list(logger.handlers):
                logger.removeHandler(handler)
            logger.addHandler(events)
            try:
                workflow = api.workflow(
                    resource_settings=ResourceSettings(cores=cores),
                    config_settings=ConfigSettings(),
                    storage_settings=StorageSettings(),
                    workflow_settings=WorkflowSettings(),
                    snakefile=SNAKEFILE,
                    workdir=folder.resolve(),
                )
                # The code of a rule is one line that names this Python: another one is no reason to start over.
                yield workflow.dag(
                    DAGSettings(
                        targets={f"manifests/{job_name(*job)}.json" for job in targets},
                        forcerun={f"manifests/{job_name(*job)}.json" for job in forced},
                        rerun_triggers={RerunTrigger.MTIME, RerunTrigger.PARAMS, RerunTrigger.INPUT},
                    )
                )
            except WorkflowError as error:
                raise X2SError(f"the workflow could not be made: {error}") from error
            finally:
                logger.removeHandler(events)
    finally:
        os.chdir(here)


class _Interruption:
    """Whoever interrupts this process alone (not its terminal's group) stops the running stages too."""

    def __init__(self) -> None:
        self.received = False

    def install(self) -> None:
        """Take SIGINT and SIGTERM; does nothing outside the main thread."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self._stop)

    def _stop(self, number: int, frame: object) -> None:
        self.received = True
        stop_children()
        raise KeyboardInterrupt


@contextmanager
def _interruption() -> Iterator[_Interruption]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    interruption = _Interruption()
    interruption.install()
    try:
        yield interruption
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                signal.signal(number, handler)


def stop_children(patience: float = 10.0) -> None:
    """Ask all child processes to end, and end them if they do not."""
    children = psutil.Process().children(recursive=True)
    for child in children:
        with suppress(psutil.NoSuchProcess):
            child.terminate()
    _, alive = psutil.wait_procs(children, timeout=patience)
    for child in alive:
        with suppress(psutil.NoSuchProcess):
            child.kill()
