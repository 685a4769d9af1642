"""One declaration per stage: what it needs, which settings it reads, what it runs."""

import glob
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from x2s.config import Config, FilesSource
from x2s.pipeline.layout import Run

Job = tuple[str, str | None]
UDPIPE = "udpipe:"
"""What a tool's name begins with when a model file follows."""


@dataclass(frozen=True)
class Outcome:
    """What a stage hands back: the artefacts it made and facts for its manifest."""

    outputs: list[Path]
    facts: dict[str, Any]


@dataclass(frozen=True)
class Stage:
    """Declaration of one stage."""

    name: str
    per_language: bool
    whole_machine: bool
    """True if the stage's own threads fill the machine; false if it uses one core."""
    needs: Callable[[Config, str | None], list[Job]]
    settings: Callable[[Config, str | None], dict[str, Any]]
    files: Callable[[Config, str | None], list[str]] = lambda config, language: []
    """Files of the user that the stage reads; a newer one makes the stage run again."""

    def languages(self, config: Config) -> tuple[str | None, ...]:
        """The languages that the stage runs for; (None,) if it runs once."""
        if not self.per_language:
            return (None,)
        return config.others if self.name == "evaluate" else config.languages

    def run(self, run: Run, language: str | None) -> Outcome:
        """Do the work, in this process."""
        from importlib import import_module

        outcome: Outcome = import_module(f"x2s.pipeline.stages.{self.name}").run(run, language)
        return outcome


def _corpus_settings(config: Config, language: str | None) -> dict[str, Any]:
    settings = config.corpus.model_dump(mode="json")
    for tools in ("segmenter", "tokenizer"):
        settings[tools] = settings[tools].get(language)
    if isinstance(config.corpus.source, FilesSource):
        settings["source"]["paths"] = config.corpus.source.patterns(str(language))
    return {**settings, "seed": config.seed, "language": language}


def _corpus_files(config: Config, language: str | None) -> list[str]:
    tools = (config.corpus.segmenter.get(str(language)), config.corpus.tokenizer.get(str(language)))
    models = {tool.removeprefix(UDPIPE) for tool in tools if tool and tool.startswith(UDPIPE)}
    if not isinstance(config.corpus.source, FilesSource):
        return sorted(models)
    return sorted({*models, *text_files(config.corpus.source, str(language))})


def text_files(source: FilesSource, language: str) -> list[str]:
    """The files that the patterns of one language match."""
    patterns = source.patterns(language)
    return sorted({found for pattern in patterns for found in glob.glob(pattern, recursive=True)})  # noqa: PTH207


def _teacher_files(config: Config, language: str | None) -> list[str]:
    folder = Path(config.teacher.model)
    if config.teacher.model == "offline" or not folder.is_dir():
        return []
    return sorted(str(path) for suffix in ("json", "safetensors", "bin") for path in folder.glob(f"*.{suffix}"))


def _lexicon_files(config: Config, language: str | None) -> list[str]:
    directions = ((language, config.hub), (config.hub, language))
    paths = [
        Path(lexicon.path.format(source=source, target=target))
        for lexicon in config.evaluate.lexicons
        if lexicon.path
        for source, target in directions
    ]
    return [str(path) for path in paths if path.exists()]


def _dictionary_files(config: Config, language: str | None) -> list[str]:
    if not config.align.dictionary or language == config.hub:
        return []
    path = Path(config.align.dictionary.format(source=language, target=config.hub))
    return [str(path)] if path.exists() else []


STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (
        Stage(
            "teacher",
            per_language=False,
            whole_machine=False,
            needs=lambda config, language: [],
            settings=lambda config, language: {
                name: getattr(config.teacher, name) for name in ("model", "revision", "layer", "dtype", "device")
            },
            files=_teacher_files,
        ),
        Stage(
            "corpus",
            per_language=True,
            whole_machine=False,
            needs=lambda config, language: [],
            settings=_corpus_settings,
            files=_corpus_files,
        ),
        Stage(
            "static",
            per_language=True,
            whole_machine=True,
            needs=lambda config, language: [("teacher", None), ("corpus", language)],
            settings=lambda config, language: {
                "teacher": config.teacher.model_dump(mode="json", exclude={"tokens_per_batch"}),
                "static": config.static.model_dump(mode="json"),
                "seed": config.seed,
            },
        ),
        Stage(
            "align",
            per_language=True,
            whole_machine=True,
            needs=lambda config, language: [("static", code) for code in dict.fromkeys((language, config.hub))],
            settings=lambda config, language: {
                "align": config.align.model_dump(mode="json"),
                "methods": list(config.aligned_methods),
                "hub": config.hub,
                "seed": config.seed,
            },
            files=_dictionary_files,
        ),
        Stage(
            "evaluate",
            per_language=True,
            whole_machine=True,
            needs=lambda config, language: [("align", language), ("align", config.hub)],
            settings=lambda config, language: {
                "evaluate": config.evaluate.model_dump(mode="json"),
                "model": config.teacher.model,
            },
            files=_lexicon_files,
        ),
        Stage(
            "report",
            per_language=False,
            whole_machine=False,
            needs=lambda config, language: [
                *(("evaluate", code) for code in config.others),
                *(("align", code) for code in config.languages),
            ],
            settings=lambda config, language: {"report": config.report.model_dump(mode="json"), "title": config.title},
        ),
    )
}


def jobs(config: Config) -> list[Job]:
    """All jobs of a run, in an order that respects what each needs."""
    return [(stage.name, language) for stage in STAGES.values() for language in stage.languages(config)]
