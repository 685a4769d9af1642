"""Packages from the Debian or Ubuntu archive, without root and without touching the system's package lists."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from x2s import progress
from x2s.errors import UnavailableError
from x2s.files import explained, whole

_OPTIONS = {
    "APT::Sandbox::User": "root",  # as root, apt would switch to a user that may not enter our folder
    "Acquire::Retries": "2",
    "Acquire::http::Timeout": "30",
    "Acquire::https::Timeout": "30",
    "Acquire::Languages": "none",  # no translated descriptions
}


class PackageCache:
    """Packages kept in a folder: `package(name)` downloads each once, also when several processes ask at a time.

    Raises:
        UnavailableError: No apt-get or dpkg-deb on this machine, or the archive cannot be reached.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser().resolve()

    def package(self, name: str) -> Path:
        """The `.deb` of a package.

        Raises:
            LookupError: The archive has no such package.
            UnavailableError: As for the class.
        """
        with self.locked():
            return self._cached(name) or self._downloaded(name)

    def extracted(self, name: str) -> tuple[Path, str]:
        """The folder that the package's files are unpacked in, and the package's version.

        Raises:
            LookupError, UnavailableError: As `package`.
        """
        with self.locked():
            deb = self._cached(name) or self._downloaded(name)
            version = _ran([_tool("dpkg-deb"), "-f", str(deb), "Version"]).strip()
            folder = self.folder / "extracted" / deb.stem
            if not folder.is_dir():
                with whole(folder) as beside:
                    _ran([_tool("dpkg-deb"), "-x", str(deb), str(beside)])
            return folder, version

    def available(self, prefix: str) -> list[str]:
        """Names of the archive's packages that start so; empty where no package lists are known."""
        pattern = f"^{prefix}"
        for private in (False, True):
            found = _run(["apt-cache", *self._options(private), "search", "--names-only", pattern], self.folder)
            names = sorted(line.split(" - ")[0].strip() for line in found.stdout.splitlines() if line.strip())
            if names:
                return names
        return []

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes that share the folder waiting."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = (self.folder / "lock").open("w")
        except OSError as error:
            raise explained(error, self.folder) from error
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _cached(self, name: str) -> Path | None:
        debs = sorted(self.folder.glob(f"debs/{name}_*.deb"), key=lambda path: (path.stat().st_mtime, path.name))
        return debs[-1] if debs else None

    def _downloaded(self, name: str) -> Path:
        _tool("dpkg-deb")
        running = progress.start(f"download {name}", unit="packages")
        complaints = self._download(name, private=False)
        # The system's lists may be absent or name versions that are gone: then with lists of our own.
        if complaints and any((self.folder / "state" / "lists").glob("*Packages*")):
            complaints = self._download(name, private=True)
        if complaints:
            update = _run([_tool("apt-get"), *self._options(True), "-q", "update"], self.folder)
            # An update that reaches no archive still succeeds; its warnings say what is wrong.
            complaints = self._download(name, private=True) and (_last_errors(update.stderr) or complaints)
        deb = self._cached(name)
        if deb is None:
            if name not in self.available(name) and self.available(name.rpartition("-")[0]):
                raise LookupError(name)
            raise UnavailableError(
                f"package {name}: the Debian or Ubuntu archive cannot be reached. Check the network and the proxy "
                f"settings (http_proxy), or take the text from local files. apt-get says: {complaints}"
            )
        running.advance()
        return deb

    def _download(self, name: str, private: bool) -> str:
        """Download aside, so that only a whole package is ever moved to the cache; returns apt's complaints."""
        with TemporaryDirectory(dir=self.folder, prefix="download-") as folder:
            ran = _run([_tool("apt-get"), *self._options(private), "-q", "download", name], Path(folder))
            debs = list(Path(folder).glob(f"{name}_*.deb"))
            if ran.returncode or not debs:
                return _last_errors(ran.stderr) or f"exit code {ran.returncode} without a message"
            try:
                (self.folder / "debs").mkdir(exist_ok=True)
                debs[0].replace(self.folder / "debs" / debs[0].name)
            except OSError as error:
                raise explained(error, self.folder) from error
            return ""

    def _options(self, private: bool) -> list[str]:
        options = _OPTIONS | {"Dir::Cache": str(self.folder / "apt-cache")}
        (self.folder / "apt-cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
        if private:
            options["Dir::State"] = str(self.folder / "state")
            options["Dir::State::lists"] = str(self.folder / "state" / "lists")
            (self.folder / "state" / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        return [part for name, value in options.items() for part in ("-o", f"{name}={value}")]


def _tool(name: str) -> str:
    if shutil.which(name) is None:
        raise UnavailableError(
            f"{name} is not on this machine: Debian packages can be used on Debian, Ubuntu and their relatives only. "
            "Take the text from local files or from the hub instead."
        )
    return name


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    if shutil.which(command[0]) is None:
        return subprocess.CompletedProcess(command, 127, "", f"{command[0]}: not found")
    return subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
    )


def _ran(command: list[str]) -> str:
    ran = _run(command, Path.cwd())
    if ran.returncode:
        if "No space left" in ran.stderr:
            raise UnavailableError(f"no space left on the disk. Free some and run again. {_last_errors(ran.stderr)}")
        raise UnavailableError(
            f"'{' '.join(command)}' failed: {_last_errors(ran.stderr)} Remove the file to download it again."
        )
    return ran.stdout


def _last_errors(text: str) -> str:
    lines = [
        line.strip() for line in text.splitlines() if line.strip() and not line.startswith("W: Download is performed")
    ]
    errors = [line for line in lines if line.startswith(("E:", "W: Failed to fetch", "dpkg-deb: error"))]
    return " ".join((errors or lines)[-2:])
