"""The HTML page."""

from pathlib import Path

from x2s.report.data import RunData


def write_report(run: RunData, path: str | Path) -> None:
    """Write one self-contained HTML page to `path`; it appears whole or not at all."""
    raise NotImplementedError
