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
        _flush(beside)
        if beside.is_dir() and path.is_dir():
            old = path.with_name(f".{path.name}.{os.getpid()}.old")
            try:
                path.rename(old)
                beside.replace(path)
            except BaseException:
                if old.exists() and not path.exists():
                    old.rename(path)
                raise
            shutil.rmtree(old, ignore_errors=True)
        else:
            beside.replace(path)
    except OSError as error:
        raise explained(error, path) from error
    finally:
        if beside.is_dir():
            shutil.rmtree(beside, ignore_errors=True)
        else:
            beside.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Have the disk hold the content before its name appears, or a power cut leaves a name without content."""
    for file in [path] if path.is_file() else [found for found in path.rglob("*") if found.is_file()]:
        with file.open("rb") as opened:
            os.fsync(opened.fileno())


def sweep(folder: Path) -> list[Path]:
    """Clear away what killed processes left behind in `folder`; nobody else may be writing there.

    A folder whose replacement was cut off between its two renames gets its old content back.
    """
    swept = []
    for left in [*folder.rglob(".*.old"), *folder.rglob(".*.partial"), *folder.rglob(".recording-*")]:
        name = left.name[1:].rsplit(".", 2)[0]
        if left.suffix == ".old" and not left.with_name(name).exists():
            left.rename(left.with_name(name))
        elif left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)
        swept.append(left)
    return swept


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
