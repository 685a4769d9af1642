"""One thread: the tiny models' products are too small to share, and waiting for other threads is most of the time."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    threads = torch.get_num_threads()
    if request.node.get_closest_marker("teacher") is None:
        torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
