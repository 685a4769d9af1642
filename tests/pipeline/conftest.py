"""A run on invented text with a tiny encoder, completed once for all tests that look at it."""

import random
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

LANGUAGES = ("en", "de", "fr")


def invent_text(language: str, sentences: int = 500, words: int = 150) -> str:
    """Paragraphs of two sentences over invented words with Zipf's frequencies; one third is alike in all languages."""
    draw = random.Random(7)
    syllables = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]
    stems = list(dict.fromkeys("".join(draw.choices(syllables, k=draw.randint(2, 3))) for _ in range(2 * words)))[
        :words
    ]
    forms = [
        stem if rank % 3 == 0 else stem + {"en": "", "de": "en", "fr": "ie"}[language]
        for rank, stem in enumerate(stems)
    ]
    weights = [1 / (rank + 5) for rank in range(words)]
    made = [" ".join(draw.choices(forms, weights, k=draw.randint(8, 14))).capitalize() + "." for _ in range(sentences)]
    return "\n".join(" ".join(made[start : start + 2]) for start in range(0, sentences, 2)) + "\n"


@dataclass(frozen=True)
class Place:
    """A folder with a configuration, text and (perhaps) an output folder."""

    folder: Path

    @property
    def output(self) -> Path:
        return self.folder / "out"

    def configure(self, **changes: object) -> None:
        config = yaml.safe_load((self.folder / "run.yaml").read_text())
        for dotted, value in changes.items():
            section = config
            *path, last = dotted.split("__")
            for key in path:
                section = section.setdefault(key, {})
            section[last] = value
        (self.folder / "run.yaml").write_text(yaml.safe_dump(config))

    def x2s(self, *arguments: str, timeout: float = 240) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments), cwd=self.folder, capture_output=True, text=True, timeout=timeout, check=False
        )

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "x2s.cli", *arguments]


def make_place(folder: Path, encoder: Path) -> Place:
    for language in LANGUAGES:
        (folder / "texts").mkdir(parents=True, exist_ok=True)
        (folder / "texts" / f"{language}.txt").write_text(invent_text(language), encoding="utf-8")
    pairs = [f"{source}\t{target}\n" for source, target in zip(_forms("de"), _forms("en"), strict=True)]
    (folder / "de-en.txt").write_text("".join(pairs), encoding="utf-8")
    config = {
        "title": "A <tiny> run",
        "output": "out",
        "languages": list(LANGUAGES),
        "teacher": {"model": str(encoder), "layer": 1},
        "corpus": {"source": {"kind": "files", "paths": str(folder / "texts" / "{language}.txt")}, "min_count": 3},
        "evaluate": {"lexicons": [{"format": "muse", "path": str(folder / "{source}-{target}.txt")}]},
    }
    for name in ("run.yaml", "run.yaml.first"):
        (folder / name).write_text(yaml.safe_dump(config))
    return Place(folder)


def _forms(language: str) -> list[str]:
    seen = dict.fromkeys(invent_text(language).lower().replace(".", "").split())
    return list(seen)


@pytest.fixture(scope="session")
def completed(tmp_path_factory: pytest.TempPathFactory, tiny_encoder_folder: Path) -> tuple[Place, str]:
    """A completed run, and what the command printed."""
    place = make_place(tmp_path_factory.mktemp("run"), tiny_encoder_folder)
    done = place.x2s("run", "run.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    return place, done.stdout


@pytest.fixture
def copy(completed: tuple[Place, str], tmp_path: Path) -> Place:
    """A copy of the completed run (not of the text it read), free to be changed."""
    shutil.copytree(completed[0].folder, tmp_path / "copy", symlinks=True)
    return Place(tmp_path / "copy")
