"""Manifest: what a finished stage read, made, and cost."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from x2s.files import whole
from x2s.pipeline.declarations import STAGES, Job, jobs
from x2s.pipeline.layout import Run, fingerprint
from x2s.scores import environment


class Manifest(BaseModel):
    """Record of one finished stage. Paths are relative to the output folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stage: str
    language: str | None
    settings: dict[str, Any] = Field(description="The part of the configuration that the stage read.")
    inputs: list[str] = Field(description="Manifests and files that the stage read.")
    outputs: list[str]
    facts: dict[str, Any] = Field(description="Revisions and counts worth knowing without opening the outputs.")
    seed: int
    seconds: float
    peak_memory_bytes: int
    finished: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    environment: dict[str, str] = Field(default_factory=environment)

    def write(self, path: Path) -> None:
        """Write the manifest whole."""
        with whole(path) as beside:
            beside.write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")


def read_manifest(path: Path) -> Manifest | None:
    """The manifest at `path`; None if there is none or it is from another version of its schema."""
    try:
        return Manifest.model_validate_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValidationError):
        return None


def stale(run: Run) -> dict[Job, str]:
    """Jobs whose manifest is there but not true any more, each with the reason.

    A manifest is written last and whole, so one whose outputs are there and whose settings are the configuration's
    stands for a finished stage, even if Snakemake was killed before it took note.
    """
    found: dict[Job, str] = {}
    for job in jobs(run.config):
        path = run.manifest(*job)
        if not path.exists():
            continue
        manifest = read_manifest(path)
        missing = [name for name in manifest.outputs if not (run.folder / name).exists()] if manifest else []
        if manifest is None:
            found[job] = "its manifest cannot be read"
        elif missing:
            found[job] = f"{missing[0]} is gone"
        elif fingerprint(manifest.settings) != fingerprint(STAGES[job[0]].settings(run.config, job[1])):
            found[job] = "its settings changed"
    return found
