"""The exceptions users meet.

Every message says what was expected, what was found and what to do. The command line prints an
`X2SError` on one screen without a traceback and exits with its `exit_code`; anything else is a bug
of ours and keeps its traceback.
"""

from pathlib import Path


class X2SError(Exception):
    """Base of all errors that the user can do something about."""

    exit_code = 1


class InputError(X2SError, ValueError):
    """An argument, file or corpus that cannot be used as given."""


class FileFormatError(InputError):
    """A file that does not hold what its format promises.

    Args:
        path: The file.
        line: 1-based line number, or None where the format has no lines (binary files).
        problem: What was expected, what was found and what to do.
    """

    def __init__(self, path: str | Path, line: int | None, problem: str) -> None:
        self.path = Path(path)
        self.line = line
        self.problem = problem
        where = f"{path}, line {line}" if line is not None else str(path)
        super().__init__(f"{where}: {problem}")


class ConfigError(InputError):
    """One or more mistakes in a configuration file; the message lists all of them with dotted paths."""

    exit_code = 2


class MissingExtraError(X2SError, ImportError):
    """An optional dependency is not installed; the message names the extra, e.g. `pip install 'x2s[demo]'`."""


class UnavailableError(X2SError):
    """Something outside x2s is absent: no apt, no hub, no disk space, no permission to write."""


class BusyError(X2SError):
    """Another run holds the output folder."""
