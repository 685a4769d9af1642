"""Where artefacts lie in the output folder of a run. No other room knows."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from x2s.config import Config, load_config


@dataclass(frozen=True)
class Run:
    """A configuration and its output folder."""

    config: Config
    folder: Path

    @classmethod
    def open(cls, folder: str | Path, config_file: str | Path | None = None) -> "Run":
        """The run that lives in `folder`, with the configuration stored there or (to plan a change) another one."""
        folder = Path(folder)
        return cls(load_config(config_file or folder / "config.yaml"), folder)

    @property
    def config_file(self) -> Path:
        """The complete configuration, as validated."""
        return self.folder / "config.yaml"

    @property
    def teacher(self) -> Path:
        """The unpacked offline teacher."""
        return self.folder / "teacher"

    @property
    def cache(self) -> Path:
        """Downloads that several languages share."""
        return self.folder / "cache"

    def corpus(self, language: str) -> Path:
        """sentences.parquet, vocabulary.tsv and corpus.json."""
        return self.folder / language / "corpus"

    def vectors(self, language: str, method: str) -> Path:
        """Static vectors in the teacher's space."""
        return self.folder / language / "vectors" / method

    def aligned(self, language: str, method: str) -> Path:
        """Vectors in the hub space, with mapping/ and selection.json."""
        return self.folder / language / "aligned" / method

    def final(self, language: str) -> Path:
        """The result: vectors of the final method, aligned or not as selected."""
        return self.folder / language / "final"

    def scores(self, language: str) -> Path:
        """Score records of one language with the hub."""
        return self.folder / "scores" / f"{language}.jsonl"

    @property
    def report(self) -> Path:
        """The page."""
        return self.folder / "report.html"

    def manifest(self, stage: str, language: str | None = None) -> Path:
        """Written when a stage is complete."""
        return self.folder / "manifests" / f"{job_name(stage, language)}.json"

    def progress(self, stage: str, language: str | None = None) -> Path:
        """State of a stage while it runs."""
        return self.folder / "progress" / f"{job_name(stage, language)}.json"

    def log(self, stage: str, language: str | None = None) -> Path:
        """What a stage printed."""
        return self.folder / "logs" / f"{job_name(stage, language)}.log"


def job_name(stage: str, language: str | None) -> str:
    """`corpus-de`, or `teacher` for a stage of all languages."""
    return f"{stage}-{language}" if language else stage


def fingerprint(settings: object) -> str:
    """A short checksum of the settings that a stage reads; a change makes the stage run again."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
