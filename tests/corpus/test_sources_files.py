"""Local files: every format and compression, and what is said about files that do not hold what they promise."""

import bz2
import gzip
import json
import lzma
import os
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from x2s.corpus.sources import FileSource, Measured
from x2s.corpus.sources.compressed import opened
from x2s.errors import FileFormatError, InputError

COMPRESS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.compress}


def read(pattern: str | Path | list[str | Path], **options: object) -> list[str]:
    return list(FileSource(pattern, **options).paragraphs())  # type: ignore[arg-type]


def written(path: Path, data: bytes | str) -> Path:
    data = data.encode() if isinstance(data, str) else data
    path.write_bytes(COMPRESS[path.suffix if path.suffix in COMPRESS else ""](data))
    return path


@pytest.mark.parametrize("compression", COMPRESS)
class TestFormats:
    def test_text_of_lines(self, tmp_path: Path, compression: str) -> None:
        path = written(tmp_path / f"a.txt{compression}", "Eins. Zwei.\nDrei.\n")
        assert read(path) == ["Eins. Zwei.", "Drei."]

    def test_text_of_blocks(self, tmp_path: Path, compression: str) -> None:
        path = written(tmp_path / f"a.txt{compression}", "\n\nEins.\nZwei.\n \t\n\nDrei.")
        assert read(path) == ["Eins.\nZwei.", "Drei."]

    def test_json_lines(self, tmp_path: Path, compression: str) -> None:
        records = [{"body": "Eins.\n\nZwei."}, {"body": None}, {"body": "Drei\u2029."}]
        text = "\n\n".join(json.dumps(record) for record in records)
        path = written(tmp_path / f"a.jsonl{compression}", text)
        assert read(path, field="body") == ["Eins.", "Zwei.", "Drei", "."]

    def test_parquet(self, tmp_path: Path, compression: str) -> None:
        pq.write_table(pa.table({"id": [1, 2, 3], "text": ["Eins.\nZwei.", None, "Drei."]}), tmp_path / "plain")
        path = written(tmp_path / f"a.parquet{compression}", (tmp_path / "plain").read_bytes())
        assert read(path) == ["Eins.", "Zwei.", "Drei."]

    def test_truncated(self, tmp_path: Path, compression: str) -> None:
        if not compression:
            pytest.skip("plain text has no end mark")
        whole = COMPRESS[compression](os.urandom(200_000).hex().encode() + b"\n")
        path = tmp_path / f"a.txt{compression}"
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(FileFormatError, match="ends early") as caught:
            read(path)
        assert caught.value.path == path

    def test_not_compressed_at_all(self, tmp_path: Path, compression: str) -> None:
        if not compression:
            pytest.skip("nothing is expected of plain text")
        path = tmp_path / f"a.txt{compression}"
        path.write_bytes(b"<html>404 Not Found</html>" * 10)
        with pytest.raises(FileFormatError, match=f"expected {compression} data"):
            read(path)


def test_several_compressed_parts_in_one_file(tmp_path: Path) -> None:
    for compression in (".gz", ".xz", ".zst"):
        parts = [COMPRESS[compression](line) for line in (b"Eins.\n", b"", b"Zwei.\n")]
        path = tmp_path / f"a.txt{compression}"
        path.write_bytes(b"".join(parts))
        assert read(path) == ["Eins.", "Zwei."]


def test_layout_can_be_forced_and_is_seen_in_the_first_megabyte_only(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", "Eins.\n\nZwei.\nDrei.\n")
    assert read(path, layout="lines") == ["Eins.", "Zwei.", "Drei."]
    assert read(path, layout="blank") == ["Eins.", "Zwei.\nDrei."]
    late = written(tmp_path / "late.txt", "Eine Zeile.\n" * 100_000 + "\nEnde.\n")
    assert len(read(late)) == 100_001
    with pytest.raises(InputError, match="layout: expected auto, lines or blank, got 'paragraphs'"):
        FileSource(path, layout="paragraphs")  # type: ignore[arg-type]


def test_windows_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", b"\xef\xbb\xbfEins.\r\nZwei.\r\n\r\nDrei.\r\n")
    assert read(path) == ["Eins.\nZwei.", "Drei."]


def test_files_are_read_once_and_in_sorted_order(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        written(tmp_path / f"{name}.txt", f"{name}\n")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    written(tmp_path / "deep" / "er" / "d.txt", "d\n")
    assert read([tmp_path / "*.txt", tmp_path / "b.txt"]) == ["a", "b", "c"]
    assert read(tmp_path / "**" / "*.txt") == ["a", "b", "c", "d"]


def test_a_name_with_glob_characters_is_a_name(tmp_path: Path) -> None:
    assert read(written(tmp_path / "a[1].txt", "Eins.\n")) == ["Eins."]


def test_revision_depends_on_names_and_content_but_not_on_the_folder(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder / "a.txt", "Eins.\n")
    one, two = (FileSource(tmp_path / folder / "*.txt").revision for folder in ("one", "two"))
    assert one == two
    assert one.startswith("sha256:")
    written(tmp_path / "two" / "a.txt", "Zwei.\n")
    assert FileSource(tmp_path / "two" / "*.txt").revision != one
    (tmp_path / "one" / "a.txt").rename(tmp_path / "one" / "b.txt")
    assert FileSource(tmp_path / "one" / "*.txt").revision != one


def test_it_says_how_far_it_has_been_read(tmp_path: Path) -> None:
    written(tmp_path / "a.txt.gz", os.urandom(300_000).hex() + "\nmiddle\n" + os.urandom(300_000).hex())
    written(tmp_path / "b.txt", "Ende.\n")
    source = FileSource(tmp_path / "*.txt*")
    assert isinstance(source, Measured)
    assert source.fraction_read == 0
    seen = [source.fraction_read for _ in source.paragraphs()]
    assert seen == sorted(seen)
    assert 0.3 < seen[1] < 0.9
    assert source.fraction_read == 1


class TestWrongContent:
    def test_other_encoding_names_line_and_byte(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.txt", b"Erste Zeile.\nM\xfcnchen liegt an der Isar.\n")
        message = r"a\.txt, line 2: expected UTF-8, got byte 0xfc \(byte 2 of the line, 14 of the file\).*iconv"
        with pytest.raises(FileFormatError, match=message):
            read(path)

    def test_utf16(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.txt", "Erste Zeile.\n".encode("utf-16"))
        with pytest.raises(FileFormatError, match="got UTF-16"):
            read(path)

    @pytest.mark.parametrize("data", [b"\x7fELF\x02\x01\x00\x00\x00", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\xff"])
    def test_binary(self, tmp_path: Path, data: bytes) -> None:
        path = written(tmp_path / "a.txt", data)
        with pytest.raises(FileFormatError, match=r"line \d: .*binary|line 1: expected UTF-8, got byte 0x89"):
            read(path)

    def test_no_end_of_line(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("x2s.corpus.sources.files._LONGEST_LINE", 1 << 20)
        path = written(tmp_path / "a.txt", "x" * (1 << 20) + "yz")
        with pytest.raises(FileFormatError, match="line 1: a line of more than 1 MiB"):
            read(path)

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ('{"text": "a"', r"line 2: .*malformed JSON.* at column 13"),
            ('["a"]', "line 2: expected a JSON object, got list"),
            ('{"body": "a", "id": 3}', "line 2: no field 'text'. Its fields are 'body', 'id'"),
            ('{"text": 3}', "line 2: field 'text': expected a string, got int"),
            ("[" * 100_000, "line 2: .*nested too deeply"),
        ],
    )
    def test_json(self, tmp_path: Path, line: str, message: str) -> None:
        path = written(tmp_path / "a.jsonl", f'{{"text": "Eins."}}\n{line}\n')
        with pytest.raises(FileFormatError, match=message):
            read(path)

    def test_parquet_without_the_column(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"id": [1], "body": ["Eins."]}), tmp_path / "a.parquet")
        with pytest.raises(FileFormatError, match=r"no column 'text'\. Its columns are 'id', 'body'"):
            read(tmp_path / "a.parquet")
        with pytest.raises(FileFormatError, match="column 'id': expected strings, got int64"):
            read(tmp_path / "a.parquet", field="id")

    def test_no_parquet_or_half_of_one(self, tmp_path: Path) -> None:
        with pytest.raises(FileFormatError, match="expected a Parquet file"):
            read(written(tmp_path / "a.parquet", b"no such thing" * 10))
        with pytest.raises(FileFormatError, match="expected a Parquet file"):
            read(written(tmp_path / "b.parquet", b""))
        pq.write_table(pa.table({"text": [os.urandom(100).hex() for _ in range(1000)]}), tmp_path / "c.parquet")
        data = bytearray((tmp_path / "c.parquet").read_bytes())
        data[1000:20_000] = os.urandom(19_000)
        with pytest.raises(FileFormatError, match="Parquet"):
            read(written(tmp_path / "c.parquet", bytes(data)))


class TestNoFiles:
    def test_nothing_matches(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"\*\.txt: no file matches"):
            FileSource(tmp_path / "*.txt")
        with pytest.raises(InputError, match="no files given"):
            FileSource([])

    def test_folder(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"is a folder.*\*\.txt"):
            FileSource(tmp_path)

    def test_unknown_kind(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt.bz2").write_bytes(bz2.compress(b"Eins."))
        with pytest.raises(InputError, match=r"expected a name that ends in \.txt, \.jsonl, \.parquet"):
            FileSource(tmp_path / "*")

    def test_gone_before_it_is_read(self, tmp_path: Path) -> None:
        source = FileSource(written(tmp_path / "a.txt", "Eins.\n"))
        (tmp_path / "a.txt").unlink()
        with pytest.raises(InputError, match="no such file"):
            list(source.paragraphs())


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """20 MB without a blank line, read as blocks, in a few MB."""
    line = os.urandom(100_000).hex()
    with zstandard.open(tmp_path / "a.txt.zst", "wb") as file:
        for start in range(100):
            file.write("".join(f"{line[i + start : i + start + 200]}\n" for i in range(0, 199_800, 200)).encode())
    source = FileSource(tmp_path / "a.txt.zst", layout="blank")
    tracemalloc.start()
    total = sum(map(len, source.paragraphs()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total > 19_000_000
    assert peak < 8 << 20


def test_memory_is_bounded_for_the_most_compressible_file(tmp_path: Path) -> None:
    """200 MB that compress to a few kB."""
    path = tmp_path / "a.txt.zst"
    with zstandard.open(path, "wb") as packed:
        for _ in range(200):
            packed.write(bytes(1 << 20))
    tracemalloc.start()
    with opened(path) as (file, _):
        total = sum(len(block) for block in iter(lambda: file.read(1 << 20), b""))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == 200 << 20
    assert peak < 40 << 20
