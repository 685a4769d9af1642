"""Outputs that appear whole or not at all."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from x2s.errors import UnavailableError


@contextmanager
def whole(path: str | Path) -> Iterator[Path]:
    """Yield a path beside `path` to write a file or a folder to, and move it into place at the end.

    An exception (Ctrl-C included) leaves the old content of `path` untouched and removes the partial one.
    An existing folder at `path` is replaced; between the two renames nothing else is done.

    Raises:
        UnavailableError: The disk is full, or the place cannot be written.
    """
    path = Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield beside
        if beside.is_dir() and path.is_dir():
            old = path.with_name(f".{path.name}.{os.getpid()}.old")
            path.rename(old)
            beside.replace(path)
            shutil.rmtree(old)
        else:
            beside.replace(path)
    except OSError as error:
        raise explained(error, path) from error
    finally:
        if beside.is_dir():
            shutil.rmtree(beside, ignore_errors=True)
        else:
            beside.unlink(missing_ok=True)


def explained(error: OSError, path: Path) -> Exception:
    """Turn the operating system's error into one that tells the user what to do; others come back unchanged."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return UnavailableError(
            f"{path}: no space left on the disk. Free some, or choose another output folder; "
            "finished parts are kept and the same command goes on from there."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return UnavailableError(f"{path}: no permission to write there. Choose another output folder.")
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return UnavailableError(f"{path}: expected a folder, but there is a file of that name (or above it).")
    return error
