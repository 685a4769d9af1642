"""Stage teacher: an encoder that is there and whose layer can be read."""

from pathlib import Path

from x2s.contextual import Encoder, offline_teacher
from x2s.pipeline.declarations import Outcome
from x2s.pipeline.layout import Run


def run(run: Run, language: str | None) -> Outcome:
    """Unpack the offline teacher, or fetch a hub model into its cache; then load it once up to the layer."""
    settings = run.config.teacher
    outputs: list[Path] = []
    if settings.model == "offline":
        outputs.append(offline_teacher(run.teacher))
    encoder = open_encoder(run)
    name = "multilingual-e5-small" if settings.model == "offline" else encoder.name
    return Outcome(
        outputs,
        {
            "name": name,
            "revision": encoder.revision,
            "layer": encoder.layer,
            "dimension": encoder.dimension,
            "summary": f"{name}, layer {encoder.layer}, {encoder.dimension} dimensions",
        },
    )


def open_encoder(run: Run) -> Encoder:
    """The teacher of a run."""
    settings = run.config.teacher
    return Encoder(
        run.teacher if settings.model == "offline" else settings.model,
        settings.layer,
        revision=settings.revision,
        dtype=settings.dtype,
        device=settings.device,
        max_subwords=settings.max_subwords,
    )
