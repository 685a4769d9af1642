"""Drives the packaged Snakefile through Snakemake's API. Nothing else here knows Snakemake."""

import logging
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator
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


# What the Snakefile asks for.


def command(stage: str) -> str:
    """Shell command of a rule, with Snakemake's placeholders; `exec` makes the stage a child that can be stopped."""
    language = " --language {wildcards.language}" if STAGES[stage].per_language else ""
    name = f"{stage}-{{wildcards.language}}" if STAGES[stage].per_language else stage
    python = shlex.quote(sys.executable).replace("{", "{{").replace("}", "}}")
    return (
        f"mkdir -p logs; export OMP_NUM_THREADS={{threads}}; "
        f"exec {python} -m x2s.cli work {stage}{language} --cores {{threads}} > logs/{name}.log 2>&1"
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
    """What Snakemake said: jobs started and finished, and its own errors."""

    on_job: Callable[[Job], None] = lambda job: None
    started: list[Job] = field(default_factory=list)
    total: int = 0
    messages: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(logging.DEBUG)

    __hash__ = logging.Handler.__hash__

    def emit(self, record: logging.LogRecord) -> None:
        """Take one log record; structured ones carry `event`."""
        from snakemake_interface_logger_plugins.common import LogEvent

        event = getattr(record, "event", None)
        if event == LogEvent.JOB_INFO and record.rule_name in STAGES:  # type: ignore[attr-defined]
            wildcards = dict(getattr(record, "wildcards", None) or {})
            self.started.append((record.rule_name, wildcards.get("language")))  # type: ignore[attr-defined]
            self.on_job(self.started[-1])
        elif event == LogEvent.PROGRESS:
            self.total = getattr(record, "total", 0)
        elif event is None and record.levelno >= logging.ERROR:
            self.messages.append(record.getMessage())


@dataclass(frozen=True)
class Pending:
    """A job that has to run, and Snakemake's reason."""

    job: Job
    reason: str


def execute(folder: Path, targets: list[Job], cores: int, on_job: Callable[[Job], None]) -> bool:
    """Run what `targets` (empty: everything) need. Returns whether all of it is now complete.

    A failed stage stops what depends on it and nothing else.

    Raises:
        KeyboardInterrupt: After the stages' processes have been stopped.
        X2SError: Snakemake refused the workflow; the message is its own.
    """
    events = Events(on_job)
    with _session(folder, targets, cores, events, dry_run=False) as workflow, _stop_children_on_signals():
        from snakemake.exceptions import WorkflowError
        from snakemake.settings.types import ExecutionSettings

        try:
            workflow.execute_workflow(
                executor="local",
                execution_settings=ExecutionSettings(keep_going=True, lock=False, latency_wait=2),
            )
        except WorkflowError as error:
            if not events.started:
                raise X2SError(f"the workflow could not start: {error}") from error
            return False
    return True


def pending(folder: Path, targets: list[Job]) -> list[Pending]:
    """The jobs that `execute` would run, in order."""
    with _session(folder, targets, 1, Events(), dry_run=True) as workflow:
        from snakemake.settings.types import ExecutionSettings

        workflow.execute_workflow(
            executor="local",
            pseudo_executor="dryrun",
            execution_settings=ExecutionSettings(lock=False),
        )
        dag = workflow.workflow_api._workflow.dag
        found = [
            Pending((job.rule.name, job.wildcards_dict.get("language")), str(dag.reason(job)))
            for job in dag.needrun_jobs()
            if job.rule.name in STAGES
        ]
    order = list(STAGES)
    return sorted(found, key=lambda entry: (order.index(entry.job[0]), entry.job[1] or ""))


@contextmanager
def _session(folder: Path, targets: list[Job], cores: int, events: Events, dry_run: bool) -> Iterator[Any]:
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
                        force_incomplete=True,
                        rerun_triggers={RerunTrigger.MTIME, RerunTrigger.PARAMS, RerunTrigger.INPUT},
                    )
                )
            except WorkflowError as error:
                raise X2SError(f"the workflow could not be made: {error}") from error
            finally:
                logger.removeHandler(events)
    finally:
        os.chdir(here)


@contextmanager
def _stop_children_on_signals() -> Iterator[None]:
    """Whoever interrupts this process alone (not its terminal's group) stops the running stages too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: object) -> None:
        stop_children()
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
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
