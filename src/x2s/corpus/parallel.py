"""Work spread over processes whose results do not depend on how many there are."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import TypeVar

from x2s.errors import InputError, UnavailableError

Item = TypeVar("Item")
Result = TypeVar("Result")

WINDOW = 64
"""Items under way at a time. Fixed, whatever the number of processes: what an item sees of earlier results
depends on it."""


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], processes: int, window: int = WINDOW
) -> Generator[Result, None, None]:
    """`map` over a pool of processes, in order, with a fixed number of items under way.

    `items` is drawn from lazily: the item at i is asked for after the result at i - `window` has been handed out and
    before the next is, whatever the number of processes. So an item may depend on those results.

    Args:
        function: Can be pickled, as can the items and results.
        items: What to map over.
        processes: 1 works in this process, and only on what is asked for.
        window: How many items are under way.

    Raises:
        InputError: `processes` is below 1.
        UnavailableError: The system killed a worker process.
    """
    if processes < 1:
        raise InputError(f"processes: expected at least 1, got {processes}.")
    if processes == 1:
        yield from (work() for work in _windowed((partial(function, item) for item in items), window))
        return
    # Not fork: the parent may run threads (torch, progress) that a forked child would inherit in any state.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(processes, window), context, initializer=_start_worker)
    try:
        futures: Iterator[Future[Result]] = _windowed((pool.submit(function, item) for item in items), window)
        for future in futures:
            yield future.result()
    except BrokenProcessPool as error:
        raise UnavailableError(
            "a worker process was killed, most often because memory ran out. "
            f"Run with fewer than {processes} processes."
        ) from error
    finally:  # also on Ctrl-C, and when the caller stops early
        pool.shutdown(cancel_futures=True)


def _windowed(items: Iterable[Item], window: int) -> Iterator[Item]:
    under_way: deque[Item] = deque()
    for item in items:
        under_way.append(item)
        if len(under_way) == window:
            yield under_way.popleft()
    yield from under_way


def _start_worker() -> None:
    """Leave Ctrl-C to the parent, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
