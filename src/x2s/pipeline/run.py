"""`x2s run`, `plan` and `status`, without the command line around them."""

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console

from x2s.config import Config, FilesSource
from x2s.corpus.segmentation import sentence_splitter
from x2s.corpus.tokenisation import word_tokenizer
from x2s.errors import ConfigError, X2SError
from x2s.files import whole
from x2s.languages import get_language
from x2s.pipeline import engine, live
from x2s.pipeline.declarations import UDPIPE, Job, jobs, text_files
from x2s.pipeline.layout import Run, job_name
from x2s.pipeline.lock import holder, locked
from x2s.pipeline.manifests import read_manifest, stale

_LITTLE_SPACE = 4 * 2**20


class RunFailedError(X2SError):
    """Stages failed; the message says which and why."""


def prepare(config: Config, config_file: Path | None = None) -> Run:
    """Store the complete configuration in the output folder, paths made absolute, for stages work there.

    Raises:
        ConfigError: The user's own file lies where it would be stored, and says something else.
        UnavailableError: The output folder cannot be written.
    """
    run = Run(config, config.output)
    text = config.to_yaml()
    if config_file is not None and config_file.resolve() == run.config_file.resolve():
        if config_file.read_text(encoding="utf-8") != text:
            raise ConfigError(
                f"{config_file}: the run stores its complete configuration under this very name. "
                "Move your file out of the output folder, or give it another name."
            )
        return run
    with whole(run.config_file) as beside:
        beside.write_text(text, encoding="utf-8")
    return run


def check_inputs(config: Config) -> None:
    """Files, models and tools that an `absolute` configuration names must be there.

    Raises:
        ConfigError: Listing all that is wrong.
    """
    problems: list[str] = []
    source = config.corpus.source
    if isinstance(source, FilesSource):
        problems += [
            f"corpus.source.paths: nothing matches {', '.join(source.patterns(code))} (language {code})"
            for code in config.languages
            if not text_files(source, code)
        ]
    for name, tools, make in (
        ("segmenter", config.corpus.segmenter, sentence_splitter),
        ("tokenizer", config.corpus.tokenizer, word_tokenizer),
    ):
        for code, tool in tools.items():
            try:
                make(get_language(code), tool)
            except X2SError as error:
                problems.append(f"corpus.{name}.{code}: {error}")
    pairs = [(code, config.hub) for code in config.others]
    for number, lexicon in enumerate(config.evaluate.lexicons):
        if lexicon.path and not _any_exists(lexicon.path, [*pairs, *(pair[::-1] for pair in pairs)]):
            problems.append(f"evaluate.lexicons.{number}.path: {lexicon.path} matches no pair of languages")
    dictionary = config.align.dictionary
    if dictionary and config.align.mode == "supervised":
        missing = [dictionary.format(source=code, target=hub) for code, hub in pairs]
        problems += [f"align.dictionary: no file {path}" for path in missing if not Path(path).exists()]
    elif dictionary and not _any_exists(dictionary, pairs):
        problems.append(f"align.dictionary: {dictionary} matches no pair of languages")
    if problems:
        raise ConfigError("what the configuration names is not there\n" + "\n".join(f"  {line}" for line in problems))


def _any_exists(pattern: str, pairs: list[tuple[str, str]]) -> bool:
    return not pairs or any(Path(pattern.format(source=source, target=target)).exists() for source, target in pairs)


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
    for tools in (data["corpus"]["segmenter"], data["corpus"]["tokenizer"]):
        for code, tool in tools.items():
            if tool.startswith(UDPIPE):
                tools[code] = UDPIPE + full(tool.removeprefix(UDPIPE))
    for lexicon in data["evaluate"]["lexicons"]:
        lexicon["path"] = full(lexicon["path"]) if lexicon["path"] else None
    if data["align"]["dictionary"]:
        data["align"]["dictionary"] = full(data["align"]["dictionary"])
    model = data["teacher"]["model"]
    if Path(model).expanduser().is_dir():
        data["teacher"]["model"] = full(model)
    return Config.model_validate(data)


def run_pipeline(
    config: Config, targets: list[Job], cores: int, console: Console, config_file: Path | None = None
) -> Run:
    """Bring a run (or only `targets` and what they need) to completion and show how it goes.

    Raises:
        ConfigError: What the configuration names is not there.
        BusyError: Another run works in the output folder.
        RunFailedError: Stages failed; all others that could be completed are complete.
    """
    config = absolute(config)
    check_inputs(config)
    with locked(config.output):
        run = prepare(config, config_file)
        undone = stale(run)
        todo = engine.pending(run.folder, targets, undone)
        if not todo:
            console.print("Nothing to do: every stage is complete and nothing it reads has changed.")
            return run
        for entry in todo:
            if entry.job in undone:
                console.print(f"{job_name(*entry.job)} is done again: {entry.reason}", highlight=False)
        live.clear_states(run)
        with live.shown(run, console, len(todo)) as display:
            complete = engine.execute(run.folder, targets, cores, display.job_started, list(undone))
        if not complete:
            raise RunFailedError(_failures(run, display.seen, [entry.job for entry in todo]))
    return run


def plan_pipeline(config: Config) -> list[engine.Pending]:
    """What `run_pipeline` would do, in order. Writes nothing that a run reads.

    Raises:
        ConfigError, BusyError: As `run_pipeline`.
    """
    config = absolute(config)
    check_inputs(config)
    run = Run(config, config.output)
    if not run.folder.exists():
        return [engine.Pending(job, "Missing output files") for job in jobs(config)]
    with locked(run.folder), tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as planned:
        planned.write(config.to_yaml())
        planned.flush()
        os.environ[engine.PLANNED] = planned.name
        try:
            return engine.pending(run.folder, [], stale(run))
        finally:
            del os.environ[engine.PLANNED]


def _failures(run: Run, started: set[Job], expected: list[Job]) -> str:
    lines = []
    for job in sorted(started, key=lambda job: (job[0], job[1] or "")):
        state = live.read_state(run, job)
        if state.get("state") == "failed":
            lines.append(f"{job_name(*job)}: {state.get('message')}")
        elif state.get("state") in ("running", None) and read_manifest(run.manifest(*job)) is None:
            lines.append(f"{job_name(*job)}: {_sudden_end(run, job)}")
    waiting = [job_name(*job) for job in expected if job not in started]
    tail = f"\nNot started because of this: {', '.join(waiting)}" if waiting else ""
    finished = sum(run.manifest(*job).exists() for job in jobs(run.config))
    return (
        "\n".join(lines or [f"a stage failed; see {run.folder / 'logs'}"])
        + tail
        + f"\n{finished} finished stages are kept; the same command goes on from there."
    )


def _sudden_end(run: Run, job: Job) -> str:
    free = shutil.disk_usage(run.folder).free
    if free < _LITTLE_SPACE:
        return f"no space left on the disk of {run.folder} ({free / 2**20:.1f} MB free); free some"
    return f"the process ended without a word (killed for want of memory?); see {run.log(*job)}"


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
    found, held = [], holder(folder)
    for job in jobs(run.config):
        state, manifest = live.read_state(run, job), read_manifest(run.manifest(*job))
        if state.get("state") == "running" and held and _alive(state.get("process")):
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
    return held, found


def _alive(process: object) -> bool:
    return isinstance(process, int) and psutil.pid_exists(process)
