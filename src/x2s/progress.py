"""How a long loop says where it is.

Rooms call `track(iterable, total, "encode de")` or open a `Progress`; they do not know who listens. The
pipeline installs a listener that draws a live bar or writes the state to a file for `x2s status`; without a
listener nothing is printed, as befits a library.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Progress:
    """State of one loop: `done` of `total` `unit`s (total None: unknown), since `started` (monotonic seconds)."""

    what: str
    total: int | None = None
    unit: str = "items"
    done: int = 0
    note: str = ""
    started: float = field(default_factory=monotonic)

    @property
    def seconds_left(self) -> float | None:
        """Estimate from the mean rate so far; None while unknown."""
        if not self.total or not self.done:
            return None
        return (monotonic() - self.started) / self.done * max(self.total - self.done, 0)

    def advance(self, by: int = 1, note: str | None = None) -> None:
        """Count `by` more units and tell the listener."""
        self.done += by
        if note is not None:
            self.note = note
        _listener(self)


def _silence(progress: Progress) -> None:
    pass


_listener: Callable[[Progress], None] = _silence


def listen(listener: Callable[[Progress], None] | None) -> None:
    """Install the process-wide listener (None: silence)."""
    global _listener
    _listener = listener or _silence


def start(what: str, total: int | None = None, unit: str = "items") -> Progress:
    """Begin a loop that is advanced by hand."""
    progress = Progress(what, total, unit)
    _listener(progress)
    return progress


def track(items: Iterable[T], what: str, total: int | None = None, unit: str = "items") -> Iterator[T]:
    """Iterate and report one unit per item."""
    progress = start(what, total, unit)
    for item in items:
        yield item
        progress.advance()
