"""Files opened whatever their compression, with one kind of error for what is wrong inside them."""

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import zstandard

from x2s.errors import FileFormatError, InputError

COMPRESSIONS = (".gz", ".xz", ".zst")
_ZSTD_WINDOW = 1 << 31  # what `zstd --long=31` writes
_ZSTD_BITE = 512  # compressed bytes decoded at a time: at most 16 MB of text, held twice while it is put together


@contextmanager
def opened(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Open a file that may be compressed: its uncompressed bytes, and the raw file (for how far it has been read).

    Raises:
        FileFormatError: The compressed data ends early or is damaged, also while the caller reads.
        InputError: The file is absent or may not be read.
    """
    with ExitStack() as stack:
        try:
            raw = stack.enter_context(path.open("rb"))
        except FileNotFoundError:
            raise InputError(f"{path}: no such file.") from None
        except IsADirectoryError:
            raise InputError(f"{path} is a folder. To read the files in it, give a pattern: {path}/*.txt") from None
        except PermissionError:
            raise InputError(f"{path}: no permission to read it.") from None
        try:
            yield cast(BinaryIO, stack.enter_context(_uncompressed(raw, path.suffix))), raw
        except EOFError as error:
            raise FileFormatError(
                path, None, f"the compressed data ends early ({error}). Is the download complete? Get the file again."
            ) from error
        except (gzip.BadGzipFile, zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
            raise FileFormatError(
                path, None, f"expected {path.suffix} data, got something else or damaged data ({error})."
            ) from error


def _uncompressed(raw: BinaryIO, suffix: str) -> io.BufferedReader | gzip.GzipFile | lzma.LZMAFile:
    match suffix:
        case ".gz":
            return gzip.GzipFile(fileobj=raw)
        case ".xz":
            return lzma.LZMAFile(raw)
        case ".zst":
            return io.BufferedReader(_Zstandard(raw), 1 << 17)
        case _:
            return cast(io.BufferedReader, raw)


class _Zstandard(io.RawIOBase):
    """Zstandard frames one after the other. Unlike `zstandard`'s own reader it notices a file that ends early."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = io.BufferedReader(cast(io.RawIOBase, raw), 1 << 17)
        self._frame = self._new_frame()
        self._in_frame = False
        self._unused = b""
        self._ready = memoryview(b"")

    @staticmethod
    def _new_frame() -> "zstandard.ZstdDecompressionObj":  # in the stubs only
        return zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        target = memoryview(buffer)
        while not self._ready:
            data = self._unused or self._raw.read(_ZSTD_BITE)
            if not data:
                if self._in_frame:
                    raise EOFError("in the middle of a Zstandard frame")
                return 0
            self._ready = memoryview(self._frame.decompress(data))
            self._in_frame, self._unused = not self._frame.eof, b""
            if self._frame.eof:
                self._unused, self._frame = self._frame.unused_data, self._new_frame()
        size = min(len(target), len(self._ready))
        target[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size
