"""The command line. Rooms and the pipeline are imported inside commands, so that `x2s --help` is instant."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from difflib import get_close_matches
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from x2s.errors import ConfigError, InputError, UnavailableError, X2SError
from x2s.files import explained

if TYPE_CHECKING:
    from x2s.pipeline import Job, Run
    from x2s.vectors import WordVectors

app = typer.Typer(
    name="x2s",
    help="Aligned static word vectors from multilingual encoders.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
config_app = typer.Typer(help="Look at configuration files.", no_args_is_help=True)
app.add_typer(config_app, name="config")

# A pipe has no width: tables then take what they need.
console = Console(soft_wrap=True, width=None if sys.stdout.isatty() else 200)
errors = Console(stderr=True, soft_wrap=True)

ConfigFile = Annotated[Path, typer.Argument(help="YAML configuration, e.g. configs/demo.yaml")]
Cores = Annotated[int, typer.Option(help="CPU cores to use; 0: all there are", min=0)]
Languages = Annotated[list[str] | None, typer.Option("--language", "-l", help="Only this language; may be repeated")]
RunFolder = Annotated[
    Path | None, typer.Option("--run", "-r", help="Output folder of a run; default: the latest under runs/")
]


@app.command()
def run(config: ConfigFile, cores: Cores = 0) -> None:
    """Do everything: corpus, static vectors, alignment, evaluation, report. Goes on where an earlier run stopped."""
    done = _run(config, [], cores)
    console.print(f"Report: [bold]{escape(str(done.report))}[/bold]")


@app.command()
def plan(config: ConfigFile) -> None:
    """Show which stages `run` would do, and why."""
    from x2s.config import load_config
    from x2s.pipeline import job_name, plan_pipeline

    todo = plan_pipeline(load_config(config))
    for entry in todo:
        console.print(f"  {job_name(*entry.job):<14} {escape(_reason(entry.reason))}", highlight=False)
    if not todo:
        console.print("Nothing to do: every stage is complete and nothing it reads has changed.")
    else:
        console.print(f"{len(todo)} stages to do; start them with: x2s run {config}")


def _reason(text: str) -> str:
    """Snakemake's reason in the words of this tool."""
    first = text.split(";")[0].split("\n")[0].strip()
    if first.startswith("Missing output files"):
        return "not done yet"
    if first.startswith("Params have changed"):
        return "its settings changed"
    if first.startswith(("Input files updated", "Updated input files")):
        return "what it reads is new: " + first.split(":", 1)[-1].strip()
    if first.startswith("Set of input files has changed"):
        return "it has other files to read"
    return first or "needed"


@app.command()
def status(
    folder: Annotated[Path | None, typer.Argument(help="Output folder; default: the latest under runs/")] = None,
) -> None:
    """Show the state of every stage of a run, also while it works."""
    from x2s.pipeline import job_name
    from x2s.pipeline import status as state_of
    from x2s.pipeline.live import clock

    where = _latest(folder)
    holder, found = state_of(where)
    table = Table(box=None, header_style="dim")
    for heading in ("stage", "state", "time", "memory", ""):
        table.add_column(heading, justify="right" if heading in ("time", "memory") else "left")
    colours = {"done": "green", "running": "cyan", "failed": "red", "interrupted": "yellow", "waiting": "dim"}
    for entry in found:
        memory = f"{entry.peak_memory_bytes / 2**20:,.0f} MB" if entry.peak_memory_bytes else ""
        table.add_row(
            job_name(*entry.job),
            f"[{colours[entry.state]}]{entry.state}[/]",
            clock(entry.seconds) if entry.seconds is not None else "",
            memory,
            escape(entry.detail),
        )
    console.print(f"{escape(str(where))}: {f'held by {holder}' if holder else 'no run is working here'}")
    console.print(table)


def _stage_command(name: str, text: str, per_language: bool) -> None:
    if per_language:

        def command(config: ConfigFile, language: Languages = None, cores: Cores = 0) -> None:
            _run(config, _targets(config, name, language), cores)
    else:

        def command(config: ConfigFile, cores: Cores = 0) -> None:  # type: ignore[misc]
            done = _run(config, [(name, None)], cores)
            if name == "report":
                console.print(f"Report: [bold]{escape(str(done.report))}[/bold]")

    app.command(name, help=text)(command)


for _name, _text, _per_language in (
    ("teacher", "Fetch or unpack the encoder and check that its layer can be read.", False),
    ("corpus", "Sentences, tokens, filters and vocabulary of the text.", True),
    ("static", "Static vectors from the encoder (does corpus and teacher first where needed).", True),
    ("align", "Map vectors into the hub language's space and select per language.", True),
    ("evaluate", "Score translations against the test dictionaries.", True),
    ("report", "Write report.html (does everything before it where needed).", False),
):
    _stage_command(_name, _text, _per_language)


@app.command()
def translate(
    word: Annotated[str, typer.Argument(help="A word")],
    source: Annotated[str, typer.Option("--from", help="Language of the word")],
    target: Annotated[str, typer.Option("--to", help="Language to translate to")],
    run_folder: RunFolder = None,
    k: Annotated[int, typer.Option("-k", help="How many translations", min=1)] = 10,
) -> None:
    """Nearest words of another language, by CSLS."""
    from x2s.evaluate import translate as translate_word

    here = _open(run_folder)
    found = translate_word(word, _vectors(here, source), _vectors(here, target), k=k)
    for translation, score in found:
        console.print(f"{score:7.3f}  {translation}", markup=False, highlight=False)


@app.command()
def neighbours(
    word: Annotated[str, typer.Argument(help="A word of any language of the run")],
    language: Annotated[str | None, typer.Option("--language", "-l", help="Language of the word; default: all")] = None,
    run_folder: RunFolder = None,
    k: Annotated[int, typer.Option("-k", help="How many in each language", min=1)] = 5,
) -> None:
    """Nearest words in every language of a run, by cosine."""
    from x2s.vectors.neighbours import nearest

    here = _open(run_folder)
    vectors = {code: _vectors(here, code) for code in here.config.languages if here.final(code).exists()}
    if language is not None:
        _vectors(here, language)
    asked = [code for code in vectors if language in (None, code)]
    holding = {code: form for code in asked if (form := _form(word, vectors[code])) is not None}
    if not holding:
        near = sorted({close for code in asked for close in get_close_matches(word.lower(), vectors[code].words, 3)})
        hint = f" Similar spellings: {', '.join(near)}." if near else ""
        raise InputError(f"{word!r} is in no vocabulary of {', '.join(asked)}.{hint}")
    for code, form in holding.items():
        table = Table(box=None, header_style="dim", title=escape(f"{form} ({code})"), title_justify="left")
        columns = []
        for other_code, other in vectors.items():
            table.add_column(other_code, no_wrap=True)
            indices, scores = nearest(vectors[code][form][None, :], other.matrix, min(k + 1, len(other)))
            cells = [
                f"{escape(other.words[index])} [dim]{score:.2f}[/dim]"
                for index, score in zip(indices[0], scores[0], strict=True)
                if not (other_code == code and other.words[index] == form)
            ]
            columns.append(cells[:k])
        for line in zip_longest(*columns, fillvalue=""):
            table.add_row(*line)
        console.print(table)


def _form(word: str, vectors: WordVectors) -> str | None:
    return next((form for form in (word, word.lower()) if form in vectors), None)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Where to write one file per language")],
    run_folder: RunFolder = None,
    binary: Annotated[bool, typer.Option(help="word2vec's binary format instead of text")] = False,
) -> None:
    """Write the final vectors of every language as word2vec files (.vec or .bin) for gensim, MUSE and others."""
    here = _open(run_folder)
    for code in here.config.languages:
        path = folder / f"{code}.{'bin' if binary else 'vec'}"
        _vectors(here, code).to_word2vec(path, binary=binary)
        console.print(str(path), markup=False, highlight=False)


@config_app.command("show")
def config_show(config: ConfigFile) -> None:
    """Print a configuration with all defaults filled in, after checking it."""
    from x2s.config import load_config

    sys.stdout.write(load_config(config).to_yaml())


@config_app.command("explain")
def config_explain(
    key: Annotated[str, typer.Argument(help="Only keys that begin so, e.g. corpus or static.ridge")] = "",
) -> None:
    """Say what every key means, and its default."""
    from x2s.config import explained as keys

    found = list(keys(key))
    if not found:
        raise InputError(f"no key begins with {key!r}; see them all with: x2s config explain")
    for entry in found:
        console.print(f"[bold]{escape(entry.name)}[/bold]  [dim]{escape(entry.values)}; {escape(entry.default)}[/dim]")
        if entry.meaning:
            console.print(f"    {escape(entry.meaning)}", highlight=False)


@app.command(hidden=True)
def work(
    stage: Annotated[str, typer.Argument()],
    language: Annotated[str | None, typer.Option()] = None,
    cores: Annotated[int, typer.Option(min=1)] = 1,
    parent: Annotated[int, typer.Option(help="Process that this one must not outlive; 0: none")] = 0,
) -> None:
    """Do one stage of the run in the current folder, in this process (what the Snakefile calls)."""
    _die_with(parent)
    from x2s.pipeline import work as do

    raise typer.Exit(do(Path.cwd(), stage, language, cores))


def _die_with(parent: int) -> None:
    """Have Linux send SIGTERM when the parent is killed, so that no orphan goes on writing; elsewhere do nothing."""
    if not parent or sys.platform != "linux":
        return
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGTERM)
    if os.getppid() != parent:  # It was killed while this process started.
        raise typer.Exit(130)


def _run(config: Path, targets: list[Job], cores: int) -> Run:
    from x2s.config import load_config
    from x2s.pipeline import run_pipeline

    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        return run_pipeline(load_config(config), targets, cores or available, console, config_file=config)
    except KeyboardInterrupt:
        errors.print("Interrupted. Finished stages are kept; the same command goes on from there.", style="yellow")
        raise typer.Exit(130) from None


def _targets(config: Path, stage: str, languages: list[str] | None) -> list[Job]:
    from x2s.config import load_config
    from x2s.pipeline import STAGES

    known = [code for code in STAGES[stage].languages(load_config(config)) if code is not None]
    for code in languages or []:
        if code not in known:
            raise ConfigError(f"--language {code}: stage {stage} runs for {', '.join(known)}")
    return [(stage, code) for code in languages or known]


def _latest(folder: Path | None) -> Path:
    if folder is not None:
        if folder.is_file():
            from x2s.config import load_config

            folder = load_config(folder).output
        if not (folder / "config.yaml").exists():
            raise InputError(f"{folder}: no run there (expected config.yaml in it). Start one with: x2s run CONFIG")
        return folder
    found = sorted(Path("runs").glob("*/config.yaml"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise InputError("no run under runs/. Start one with: x2s run CONFIG, or name its folder")
    return found[-1].parent


def _open(folder: Path | None) -> Run:
    from x2s.pipeline import Run

    return Run.open(_latest(folder))


def _vectors(here: Run, language: str) -> WordVectors:
    from x2s.vectors import WordVectors

    if language not in here.config.languages:
        raise InputError(f"{language}: this run has {', '.join(here.config.languages)}")
    if not here.final(language).exists():
        raise InputError(f"{here.final(language)}: no vectors yet. Finish the run first: x2s status {here.folder}")
    return WordVectors.load(here.final(language))


def main() -> None:
    """Entry point: errors of the user's on one screen, without a traceback."""
    try:
        app()
    except X2SError as error:
        errors.print(str(error), style="red", markup=False, highlight=False)
        sys.exit(error.exit_code)
    except OSError as error:
        known = explained(error, Path(error.filename or "."))
        if not isinstance(known, UnavailableError):
            raise
        errors.print(str(known), style="red", markup=False, highlight=False)
        sys.exit(1)


if __name__ == "__main__":
    main()
