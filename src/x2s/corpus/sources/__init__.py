"""Where paragraphs come from: files, the hub, Debian packages."""

from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable

from x2s.corpus.sources.debian import LibreOfficeHelp
from x2s.corpus.sources.files import FileSource
from x2s.corpus.sources.hub import HubSource

__all__ = ["FileSource", "HubSource", "LibreOfficeHelp", "Measured", "Selective", "Source"]


class Source(Protocol):
    """Text that can be read as often as needed, always in the same order.

    A paragraph is a string; U+2029 inside it is a sentence boundary that no segmenter has to find.
    """

    @property
    def name(self) -> str:
        """What the text is, for reports."""
        ...

    @property
    def revision(self) -> str:
        """Which version of it: equal revisions give equal paragraphs."""
        ...

    @property
    def licence(self) -> str:
        """Under which terms it may be used, as far as the source says."""
        ...

    def paragraphs(self) -> Iterator[str]:
        """The paragraphs in a fixed order, streamed."""
        ...


@runtime_checkable
class Measured(Protocol):
    """A source that knows how far it has been read."""

    @property
    def fraction_read(self) -> float:
        """Share of the source read by the running `paragraphs()`, 0 before it starts."""
        ...


@runtime_checkable
class Selective(Protocol):
    """A source that leaves some of its paragraphs out."""

    @property
    def left_out(self) -> Mapping[str, int]:
        """Paragraphs that the last reading left out, by reason."""
        ...
