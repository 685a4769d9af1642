"""A file on a web server, read from its start to its end."""

import http.client
import io
import time
import urllib.error
import urllib.request
from typing import Any

TIMEOUT = 15.0
"""Seconds until a server that does not answer counts as unreachable."""
_TRIES = 5


class Download(io.RawIOBase):
    """The bytes at a URL. A connection that breaks is taken up again where it broke.

    Raises:
        OSError: The server cannot be reached, or gives up five times in a row.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._position = 0
        self._size: int | None = None
        self._answer: http.client.HTTPResponse | None = None
        self._failures = 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read up to the buffer's size; 0 at the end."""
        while True:
            try:
                if self._answer is None:
                    self._answer = self._open()
                data = self._answer.read(len(memoryview(buffer)))
                if not data and self._size is not None and self._position < self._size:
                    raise ConnectionError(f"connection closed after {self._position:,} of {self._size:,} bytes")
                break
            except urllib.error.HTTPError:
                raise
            except (OSError, http.client.HTTPException) as error:
                self._give_up_or_wait(error)
        self._failures = 0
        self._position += len(data)
        memoryview(buffer)[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the connection."""
        if self._answer is not None:
            self._answer.close()
        super().close()

    def _open(self) -> http.client.HTTPResponse:
        request = urllib.request.Request(self._url)
        if self._position:
            request.add_header("Range", f"bytes={self._position}-")
        answer: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=TIMEOUT)
        if self._position and answer.status != 206:
            raise urllib.error.URLError(f"the connection broke, and {self._url} cannot be read on from its middle")
        if not self._position and answer.headers.get("Content-Length"):
            self._size = int(answer.headers["Content-Length"])
        return answer

    def _give_up_or_wait(self, error: Exception) -> None:
        self._answer = None
        self._failures += 1
        if self._failures >= _TRIES or not self._position:
            raise OSError(f"{error} (gave up at byte {self._position:,})") from error
        time.sleep(2**self._failures)
