"""What the user sees while a run works: finished stages as lines, running ones as bars."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from x2s.pipeline.declarations import Job, jobs
from x2s.pipeline.layout import Run, job_name
from x2s.pipeline.manifests import read_manifest

_LINE_EVERY = 30.0  # seconds between progress lines where no terminal is


@dataclass
class Display:
    """Follows the progress files of a run. Safe to call from several threads."""

    run: Run
    console: Console
    expected: int
    started: float = field(default_factory=time.monotonic)
    seen: set[Job] = field(default_factory=set)
    told: set[Job] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def job_started(self, job: Job) -> None:
        """Snakemake starts a job."""
        with self._lock:
            self.seen.add(job)

    def running(self) -> list[tuple[Job, dict[str, Any]]]:
        """Jobs under way with their state; tells of those that ended since the last look."""
        with self._lock:
            under_way = sorted(self.seen - self.told, key=lambda job: (job[0], job[1] or ""))
        found = []
        for job in under_way:
            state = read_state(self.run, job)
            if state.get("state") in ("done", "failed", "interrupted"):
                self._tell(job, state)
            else:
                found.append((job, state))
        return found

    def _tell(self, job: Job, state: dict[str, Any]) -> None:
        if state["state"] == "done":
            manifest = read_manifest(self.run.manifest(*job))
            if manifest is None:
                return  # Written within the moment; the next look finds it.
            summary = manifest.facts.get("summary", "")
            line = Text.assemble(
                ("✓ ", "green"), (f"{job_name(*job):<14}", "bold"), f"{clock(manifest.seconds):>8}  {summary}"
            )
        else:
            line = Text.assemble(("✗ ", "red"), (f"{job_name(*job):<14}", "bold"), f" {state['state']}")
        with self._lock:
            if job in self.told:
                return
            self.told.add(job)
        self.console.print(line)

    def render(self) -> RenderableType:
        """The bars of the moment."""
        table = Table.grid(padding=(0, 1))
        for job, state in self.running():
            total, done = state.get("total"), state.get("done") or 0
            bar = ProgressBar(total=total or None, completed=done, width=24, pulse=not total)
            table.add_row(
                Text("  " + job_name(*job), style="bold"),
                bar,
                Text(describe(state)),
            )
        line = f"  {len(self.told)} of {self.expected} stages done, {clock(time.monotonic() - self.started)}"
        return Group(table, Text(line, style="dim"))


@contextmanager
def shown(run: Run, console: Console, expected: int) -> Iterator[Display]:
    """Show a run: live bars on a terminal, a line now and then elsewhere."""
    display = Display(run, console, expected)
    if console.is_terminal:
        with Live(console=console, get_renderable=display.render, refresh_per_second=4, transient=True):
            yield display
    else:
        stop = threading.Event()
        thread = threading.Thread(target=_lines, args=(display, stop), daemon=True)
        thread.start()
        try:
            yield display
        finally:
            stop.set()
            thread.join()
    display.running()


def _lines(display: Display, stop: threading.Event) -> None:
    last = time.monotonic()
    while not stop.wait(0.5):
        running = display.running()
        if time.monotonic() - last >= _LINE_EVERY:
            last = time.monotonic()
            for job, state in running:
                display.console.print(f"  {job_name(*job):<14} {describe(state)}", highlight=False)


def read_state(run: Run, job: Job) -> dict[str, Any]:
    """The progress file of a job; empty if there is none (yet)."""
    try:
        state: dict[str, Any] = json.loads(run.progress(*job).read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return state


def clear_states(run: Run) -> None:
    """Forget the progress of earlier runs that did not end well, so that they are not taken for this one's."""
    for job in jobs(run.config):
        run.progress(*job).unlink(missing_ok=True)


def describe(state: dict[str, Any]) -> str:
    """`encode de 12,000 of 27,000 sentences, 0:23 left`."""
    if not state.get("what"):
        return "starting"
    done, total, unit = state.get("done") or 0, state.get("total"), state.get("unit", "")
    far = f"{done:,} of {total:,} {unit}" if total else f"{done:,} {unit}"
    left = state.get("seconds_left")
    note = f", {state['note']}" if state.get("note") else ""
    return f"{state['what']}: {far}{note}" + (f", {clock(left)} left" if left else "")


def clock(seconds: float) -> str:
    """Seconds as 0:07, 12:30 or 2:03:00."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
