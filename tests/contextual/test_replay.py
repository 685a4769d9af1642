"""Recording: read once, replayed as often as wanted, gone afterwards."""

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from x2s.contextual import Occurrences, Recording
from x2s.errors import InputError, UnavailableError


def batches(count: int = 3) -> Iterator[Occurrences]:
    generator = torch.Generator().manual_seed(0)
    for number in range(count):
        own, context, deep = torch.randn(3, 5, 4, generator=generator)
        yield Occurrences(torch.arange(5), torch.full((5,), number), own, context, {7: deep})


@pytest.mark.parametrize(("dtype", "tolerance"), [("fp32", 0.0), ("bf16", 0.004)])
def test_later_epochs_repeat_the_first(tmp_path: Path, dtype: str, tolerance: float) -> None:
    with Recording(batches(), tmp_path / "recording", dtype=dtype) as recording:
        first, second, third = (list(recording) for _ in range(3))
        assert recording.bytes > 0
    for original, epoch in ((list(batches()), first), (first, second), (second, third)):
        for a, b in zip(original, epoch, strict=True):
            assert torch.equal(a.word_ids, b.word_ids)
            assert torch.equal(a.sentence_ids, b.sentence_ids)
            torch.testing.assert_close(a.own, b.own, rtol=tolerance, atol=0)
            torch.testing.assert_close(a.context, b.context, rtol=tolerance, atol=0)
            torch.testing.assert_close(a.own_by_layer[7], b.own_by_layer[7], rtol=tolerance, atol=0)
    assert torch.equal(second[0].own, third[0].own)
    assert not (tmp_path / "recording").exists()


def test_it_is_removed_after_an_error_and_leftovers_too(tmp_path: Path) -> None:
    folder = tmp_path / "recording"
    killed = Recording(batches(), folder)
    list(killed)
    assert any(folder.iterdir())
    with pytest.raises(KeyboardInterrupt), Recording(batches(1), folder) as recording:
        assert len(list(recording)) == len(list(recording)) == 1
        raise KeyboardInterrupt
    assert not folder.exists()


def test_an_unfinished_first_iteration_cannot_be_replayed(tmp_path: Path) -> None:
    with Recording(batches(), tmp_path / "recording") as recording:
        next(iter(recording))
        with pytest.raises(InputError, match="not finished"):
            iter(recording)


def test_other_peoples_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match=r"'thesis\.txt' is there"):
        Recording(batches(), tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_a_full_disk_is_said_and_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with Recording(batches(), tmp_path / "recording") as recording:
        stream = iter(recording)
        next(stream)
        monkeypatch.setattr(Path, "write_bytes", full)
        with pytest.raises(UnavailableError, match="no space left"):
            next(stream)
        assert not list((tmp_path / "recording").iterdir())


def test_unknown_dtype(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected 'bf16' or 'fp32'"):
        Recording(batches(), tmp_path, dtype="fp8")
