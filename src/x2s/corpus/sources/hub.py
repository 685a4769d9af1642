"""Text streamed from the Hugging Face hub (Wikipedia, FineWeb 2, any dataset with a text column) and from CC100."""

import lzma
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

from x2s.corpus.sources.download import TIMEOUT, Download
from x2s.corpus.sources.files import checksum, split_paragraphs
from x2s.errors import InputError, UnavailableError
from x2s.languages import Language, get_language

CC100_URL = "https://data.statmt.org/cc-100/{file}.txt.xz"
_SHUFFLED = 1000  # documents in datasets' shuffle buffer; the order of the shards is shuffled whole
_NETWORK_PACKAGES = ("httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3", "aiohttp", "huggingface_hub")


@dataclass(frozen=True)
class _Known:
    """A dataset whose configurations the language table names."""

    repository: Callable[[Language], str]
    configuration: Callable[[Language], str]
    licence: str


_KNOWN = {
    "wikipedia": _Known(lambda _: "wikimedia/wikipedia", lambda language: language.wikipedia, "CC BY-SA 3.0, GFDL"),
    "fineweb2": _Known(lambda language: language.fineweb_dataset, lambda language: language.fineweb2, "ODC-By 1.0"),
}


class HubSource:
    """Paragraphs of one language from a hub dataset, streamed: nothing is downloaded beyond what is read.

    Args:
        language: The language or its code.
        dataset: "wikipedia" (`wikimedia/wikipedia`), "fineweb2" (`HuggingFaceFW/fineweb-2`, for English
            `HuggingFaceFW/fineweb`), "cc100" (from its own site), or any dataset id or local folder in hub layout.
        revision: Commit, branch or tag of the dataset; None takes the newest and records its commit.
        configuration: Configuration of the dataset; by default the language's, or for other datasets its only one.
        split: Split to read.
        field: Column that holds the text. Every line of it is a paragraph.
        seed: Shuffles the shards, and the documents in a small buffer, so that a source of which only a part is read
            is not read from one end; None keeps the stored order.

    Raises:
        UnavailableError: The hub cannot be reached, or does not let us in.
        InputError: No such dataset, configuration, split or column.
    """

    def __init__(
        self,
        language: Language | str,
        dataset: str = "wikipedia",
        revision: str | None = None,
        *,
        configuration: str | None = None,
        split: str = "train",
        field: str = "text",
        seed: int | None = 0,
    ) -> None:
        language = get_language(language) if isinstance(language, str) else language
        self.dataset = dataset
        self.split = split
        self.field = field
        self.seed = seed
        self._wanted = revision
        self._found: str | None = None
        known = _KNOWN.get(dataset)
        self._cc100 = CC100_URL.format(file=language.cc100) if dataset == "cc100" else None
        self._repository = known.repository(language) if known else dataset
        self._configuration = configuration or (known.configuration(language) if known else None)
        self.licence = known.licence if known else "see the dataset's card"
        self.name = " ".join(filter(None, (self._repository, self._configuration)))
        if self._cc100:
            self.licence = "none stated; text from Common Crawl, under its terms of use"
            self.name = f"CC100 {language.cc100}"

    @property
    def revision(self) -> str:
        """Commit of the dataset; of a local folder the checksum of its files, of CC100 the server's tag of the file."""
        if self._found is None:
            with _explained(self.name):
                self._found = self._find_revision()
        return self._found

    def _find_revision(self) -> str:
        if self._cc100:
            request = urllib.request.Request(self._cc100, method="HEAD")
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                return f"{answer.headers.get('ETag') or answer.headers.get('Last-Modified') or 'unknown'}".strip('"')
        if Path(self._repository).is_dir():
            return checksum(sorted(path for path in Path(self._repository).rglob("*") if path.is_file()))
        # `huggingface_hub` is imported where it is used: it takes long, and most corpora come from elsewhere.
        from huggingface_hub import HfApi

        found = HfApi().dataset_info(self._repository, revision=self._wanted, timeout=TIMEOUT).sha
        return found or self._wanted or "unknown"

    def paragraphs(self) -> Iterator[str]:
        """The paragraphs, streamed in an order that depends on the seed only.

        Raises:
            UnavailableError: As for the class, also in the middle of the stream.
        """
        revision = self.revision  # first: it fails quickly and plainly where the hub is out of reach
        with _explained(self.name):
            for text in self._texts(revision):
                yield from split_paragraphs((text or "").splitlines(), "lines")

    def _texts(self, revision: str) -> Iterator[str | None]:
        if self._cc100:
            # Not by `datasets`, whose streaming over HTTP needs packages that it does not bring. The file is one shard
            # in no order of sites: nothing to shuffle either.
            with lzma.open(BufferedReader(Download(self._cc100), 1 << 17)) as file:
                yield from (line.decode("utf-8", "replace") for line in file)
            return
        import datasets

        datasets.disable_progress_bars()  # ours is shown instead
        local = Path(self._repository).is_dir()
        rows: Any = datasets.load_dataset(
            str(Path(self._repository).resolve()) if local else self._repository,
            self._configuration,
            split=self.split,
            streaming=True,
            revision=None if local else revision,
        )
        if rows.column_names is not None:
            if self.field not in rows.column_names:
                raise InputError(
                    f"{self.name}: no column {self.field!r}. Its columns are {', '.join(rows.column_names)}."
                )
            rows = rows.select_columns([self.field])
        if self.seed is not None:
            rows = rows.shuffle(seed=self.seed, buffer_size=_SHUFFLED)
        yield from (row[self.field] for row in rows)


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Say in plain words what is wrong between us and the hub."""
    try:
        yield
    except (InputError, UnavailableError, GeneratorExit):
        raise
    except Exception as error:
        raise _plain(name, error) from error


def _plain(name: str, error: Exception) -> Exception:
    kind = type(error).__name__
    reason = f"{kind}: {' '.join(str(error).split())[:300]}"
    if kind == "OfflineModeIsEnabled":
        return UnavailableError(
            f"{name}: HF_HUB_OFFLINE is set, so the hub is not asked. Unset it, or use local files."
        )
    if kind in ("GatedRepoError", "DisabledRepoError"):
        return UnavailableError(f"{name}: the hub asks for consent or a login first ('hf auth login'). {reason}")
    if kind in ("RepositoryNotFoundError", "DatasetNotFoundError", "HFValidationError"):
        return InputError(f"{name}: the hub has no such dataset, or it is private ('hf auth login'). {reason}")
    if kind in ("RevisionNotFoundError", "EntryNotFoundError", "RemoteEntryNotFoundError"):
        return InputError(f"{name}: no such revision or file in the dataset. {reason}")
    if isinstance(error, urllib.error.HTTPError) and error.code == 404:
        return InputError(f"{name}: there is no such file at {error.url}. Choose another source for this language.")
    if isinstance(error, EOFError | lzma.LZMAError):
        return UnavailableError(f"{name}: the server sends damaged or incomplete data ({reason}). Try again later.")
    if isinstance(error, ValueError) and ("BuilderConfig" in str(error) or "split" in str(error).lower()):
        return InputError(f"{name}: no such configuration or split. {reason}")
    package = type(error).__module__.partition(".")[0]
    if isinstance(error, OSError | TimeoutError) or package in _NETWORK_PACKAGES:
        return UnavailableError(
            f"{name}: cannot be reached ({reason}). Check the network and the proxy settings and run again, "
            "or take the text from local files."
        )
    return error
