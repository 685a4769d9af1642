"""One run at a time in an output folder."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from x2s.errors import BusyError
from x2s.files import explained, sweep


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the output folder; the operating system lets go of it however the process ends.

    Raises:
        BusyError: Another run holds it.
        UnavailableError: The folder cannot be written.
    """
    path = folder / ".lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise explained(error, folder) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(
                f"{folder}: another run works here ({holder(folder) or 'unknown process'}). "
                f"Wait for it (x2s status {folder}), stop it, or choose another output folder."
            ) from None
        try:
            file.seek(0)
            file.truncate()
            file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
            file.flush()
        except OSError as error:
            raise explained(error, folder) from error
        sweep(folder)
        yield
        file.seek(0)
        file.truncate()


def holder(folder: Path) -> str | None:
    """Who holds the folder now; None if nobody does."""
    try:
        with (folder / ".lock").open("r", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read().strip() or "unknown process"
            return None
    except FileNotFoundError:
        return None
