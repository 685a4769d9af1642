"""ScoreRecord: one number with everything needed to trust and compare it."""

import json
import platform
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from x2s.files import whole


@cache
def environment() -> dict[str, str]:
    """Versions that can change a score: Python, x2s, torch, transformers, numpy, and the machine type."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for package in ("x2s", "torch", "transformers", "tokenizers", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "absent"
    return found


class ScoreRecord(BaseModel):
    """One score.

    `value` is a fraction in [0, 1] for accuracies and a coefficient in [-1, 1] for correlations; tables
    multiply by 100 where the field prints percentages.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str = Field(description="bli, similarity, retrieval, ...")
    metric: str = Field(description="e.g. precision@1, spearman, accuracy")
    value: float
    coverage: float = Field(ge=0, le=1, description="Share of the test items that could be scored.")
    languages: tuple[str, ...] = Field(description="In order of direction: source, target.")
    model: str = Field(description="The teacher or the origin of the vectors.")
    method: str = Field(description="e.g. combined/aligned")
    data: str = Field(description="Test set name.")
    data_revision: str = Field(description="Checksum or hub revision of the test set.")
    seed: int | None = None
    items: int = Field(ge=0, description="Number of test items scored (the denominator).")
    details: dict[str, Any] = Field(default_factory=dict)
    environment: dict[str, str] = Field(default_factory=environment)


def write_scores(path: str | Path, records: Iterable[ScoreRecord]) -> None:
    """Write records as JSON lines; the file appears whole or not at all."""
    with whole(path) as beside:
        beside.write_text("".join(record.model_dump_json() + "\n" for record in records), encoding="utf-8")


def read_scores(path: str | Path) -> list[ScoreRecord]:
    """Read records written by `write_scores`."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [ScoreRecord.model_validate(json.loads(line)) for line in lines if line.strip()]
