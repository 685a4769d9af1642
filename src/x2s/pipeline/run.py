"""`x2s run`, `plan` and `status`, without the command line around them."""

from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console

from x2s.config import Config, FilesSource
from x2s.errors import ConfigError, X2SError
from x2s.files import whole
from x2s.pipeline import engine, live
from x2s.pipeline.declarations import STAGES, Job, jobs
from x2s.pipeline.layout import Run, job_name
from x2s.pipeline.lock import holder, locked
from x2s.pipeline.manifests import drop_hollow, read_manifest


class RunFailedError(X2SError):
    """Stages failed; the message says which and why."""


def prepare(config: Config) -> Run:
    """Make the output folder and store the complete configuration there.

    Paths of the user's files become absolute, for stages work in the output folder.

    Raises:
        ConfigError: Files that the configuration names are not there.
        UnavailableError: The output folder cannot be written.
    """
    check_files(config)
    run = Run(absolute(config), config.output.absolute())
    with whole(run.config_file) as beside:
        beside.write_text(run.config.to_yaml(), encoding="utf-8")
    return run


def check_files(config: Config) -> None:
    """All text and dictionary files that are named must exist.

    Raises:
        ConfigError: Listing every pattern that matches nothing.
    """
    problems = []
    if isinstance(config.corpus.source, FilesSource):
        problems += [
            f"  corpus.source.paths: nothing matches {', '.join(config.corpus.source.patterns(code))} (language {code})"
            for code in config.languages
            if not STAGES["corpus"].files(config, code)
        ]
    for lexicon in config.evaluate.lexicons:
        found = [path for code in config.others for path in STAGES["evaluate"].files(config, code)]
        if lexicon.path and not found:
            problems.append(f"  evaluate.lexicons: {lexicon.path} matches no dictionary of any language")
    if config.align.mode == "supervised":
        problems += [
            f"  align.dictionary: no {str(config.align.dictionary).format(source=code, target=config.hub)}"
            for code in config.others
            if not STAGES["align"].files(config, code)
        ]
    if problems:
        raise ConfigError("files that the configuration names are not there\n" + "\n".join(dict.fromkeys(problems)))


def absolute(config: Config) -> Config:
    """The same configuration with all paths absolute."""

    def full(path: str) -> str:
        return str(Path(path).expanduser().absolute())

    data = config.model_dump()
    data["output"] = full(str(config.output))
    source = data["corpus"]["source"]
    if source["kind"] == "files":
        paths = source["paths"]
        if isinstance(paths, str):
            source["paths"] = full(paths)
        else:
            source["paths"] = {
                code: full(found) if isinstance(found, str) else [full(path) for path in found]
                for code, found in paths.items()
            }
    for lexicon in data["evaluate"]["lexicons"]:
        lexicon["path"] = full(lexicon["path"]) if lexicon["path"] else None
    if data["align"]["dictionary"]:
        data["align"]["dictionary"] = full(data["align"]["dictionary"])
    model = data["teacher"]["model"]
    if Path(model).expanduser().is_dir():
        data["teacher"]["model"] = full(model)
    return Config.model_validate(data)


def run_pipeline(config: Config, targets: list[Job], cores: int, console: Console) -> Run:
    """Bring a run (or only `targets` and what they need) to completion and show how it goes.

    Raises:
        BusyError: Another run works in the output folder.
        RunFailedError: Stages failed; all others that could be completed are complete.
    """
    check_files(config)
    with locked(config.output.absolute()):
        run = prepare(config)
        for path, reason in drop_hollow(run.folder).items():
            console.print(f"{path.stem} is done again: {reason}", highlight=False)
        todo = engine.pending(run.folder, targets)
        if not todo:
            console.print("Nothing to do: every stage is complete and nothing it reads has changed.")
            return run
        live.clear_states(run)
        with live.shown(run, console, len(todo)) as display:
            complete = engine.execute(run.folder, targets, cores, display.job_started)
        if not complete:
            raise RunFailedError(_failures(run, display.seen))
    return run


def _failures(run: Run, started: set[Job]) -> str:
    lines = []
    for job in sorted(started, key=lambda job: (job[0], job[1] or "")):
        state = live.read_state(run, job)
        log = run.log(*job)
        if state.get("state") == "failed":
            lines.append(f"{job_name(*job)}: {state.get('message')}")
        elif state.get("state") in ("running", None) and read_manifest(run.manifest(*job)) is None:
            lines.append(f"{job_name(*job)}: the process was killed (out of memory?); see {log}")
    waiting = [job_name(*job) for job in jobs(run.config) if not run.manifest(*job).exists() and job not in started]
    tail = f"\nNot started because of this: {', '.join(waiting)}" if waiting else ""
    finished = sum(run.manifest(*job).exists() for job in jobs(run.config))
    return (
        "\n".join(lines or [f"a stage failed; see {run.folder / 'logs'}"])
        + tail
        + f"\n{finished} finished stages are kept; the same command goes on from there."
    )


@dataclass(frozen=True)
class JobStatus:
    """State of one job for `x2s status`."""

    job: Job
    state: str
    """done, running, failed, interrupted, waiting."""
    detail: str
    seconds: float | None
    peak_memory_bytes: int | None


def status(folder: Path) -> tuple[str | None, list[JobStatus]]:
    """Who works in the folder (None: nobody), and the state of every job."""
    run = Run.open(folder)
    found = []
    for job in jobs(run.config):
        state, manifest = live.read_state(run, job), read_manifest(run.manifest(*job))
        if state.get("state") == "running" and _alive(state.get("process")):
            found.append(JobStatus(job, "running", live.describe(state), None, None))
        elif manifest is not None:
            summary = str(manifest.facts.get("summary", ""))
            found.append(JobStatus(job, "done", summary, manifest.seconds, manifest.peak_memory_bytes))
        elif state.get("state") == "failed":
            found.append(JobStatus(job, "failed", str(state.get("message")), None, None))
        elif state.get("state") in ("running", "interrupted"):
            found.append(JobStatus(job, "interrupted", "", None, None))
        else:
            found.append(JobStatus(job, "waiting", "", None, None))
    return holder(folder), found


def _alive(process: object) -> bool:
    return isinstance(process, int) and psutil.pid_exists(process)
