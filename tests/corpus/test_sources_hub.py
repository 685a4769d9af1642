"""The hub source, on folders in hub layout and a web server of our own, read by `datasets` itself."""

import functools
import http.server
import lzma
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from x2s.corpus.sources import HubSource, Measured, hub
from x2s.errors import InputError, UnavailableError
from x2s.languages import get_language


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("datasets.config.SLEEP_TIME_ON_THREADS_SHUTDOWN", 0)


@pytest.fixture
def wikipedia(tmp_path: Path) -> Path:
    """Two shards of German and one of Swahili in the layout of wikimedia/wikipedia."""
    folder = tmp_path / "wikipedia"
    shards = {
        "20231101.de": [["Titel\n\nErster Satz. Zweiter Satz.\nNoch ein Absatz.", ""], ["Ein anderer Artikel."]],
        "20231101.sw": [["Makala ya kwanza."]],
    }
    (folder).mkdir()
    configs = []
    for name, parts in shards.items():
        (folder / name).mkdir()
        for index, texts in enumerate(parts):
            table = pa.table({"id": [str(i) for i in range(len(texts))], "title": texts, "text": texts})
            pq.write_table(table, folder / name / f"train-{index:05}-of-{len(parts):05}.parquet")
        configs.append(f"- config_name: {name}\n  data_files:\n  - split: train\n    path: {name}/train-*\n")
    (folder / "README.md").write_text("---\nconfigs:\n" + "".join(configs) + "---\n", encoding="utf-8")
    return folder


PARAGRAPHS = ["Titel", "Erster Satz. Zweiter Satz.", "Noch ein Absatz.", "Ein anderer Artikel."]


def test_stored_order(wikipedia: Path) -> None:
    source = HubSource("de", str(wikipedia), configuration="20231101.de", seed=None)
    assert list(source.paragraphs()) == PARAGRAPHS
    assert list(source.paragraphs()) == PARAGRAPHS
    assert not isinstance(source, Measured)


def test_seeded_order(wikipedia: Path) -> None:
    orders = set()
    for seed in (0, 1, 2, 0):
        found = list(HubSource("de", str(wikipedia), configuration="20231101.de", seed=seed).paragraphs())
        assert sorted(found) == sorted(PARAGRAPHS)
        orders.add(tuple(found))
    assert 1 < len(orders) <= 3


def test_revision_of_a_folder_is_a_checksum(wikipedia: Path) -> None:
    source = HubSource("de", str(wikipedia), configuration="20231101.de")
    assert source.revision.startswith("sha256:")
    assert source.revision == HubSource("sw", str(wikipedia), configuration="20231101.sw").revision


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"configuration": "20231101.xx"}, r"no such configuration or split.*20231101\.de"),
        ({"configuration": "20231101.de", "split": "test"}, "no such configuration or split"),
        ({"configuration": "20231101.de", "field": "body"}, r"no column 'body'\. Its columns are id, title, text"),
    ],
)
def test_what_the_dataset_does_not_have(wikipedia: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(HubSource("de", str(wikipedia), **options).paragraphs())  # type: ignore[arg-type]


def test_names_on_the_hub() -> None:
    assert HubSource("sw").name == "wikimedia/wikipedia 20231101.sw"
    assert HubSource("fi", "fineweb2").name == "HuggingFaceFW/fineweb-2 fin_Latn"
    assert HubSource("en", "fineweb2").name.startswith("HuggingFaceFW/fineweb ")
    assert HubSource(get_language("zh"), "cc100").name == "CC100 zh-Hans"
    assert HubSource("zh").licence == "CC BY-SA 3.0, GFDL"


class Serving(http.server.SimpleHTTPRequestHandler):
    """Serves ranges, and breaks off the connection after so many bytes."""

    breaks_after = 0

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not path.exists():
            self.send_error(404)
            return
        data = path.read_bytes()
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        self.wfile.write(data[start : start + self.breaks_after] if self.breaks_after else data[start:])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A web server on this machine for the files in a folder `served`."""
    (tmp_path / "served").mkdir()

    handler = functools.partial(Serving, directory=str(tmp_path / "served"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}/{{file}}.txt.xz"
        running.shutdown()


def test_cc100(tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "CC100_URL", server)
    text = "Ensimmäinen lause. Toinen.\nKolmas.\n\nUusi asiakirja.\n"
    (tmp_path / "served" / "fi.txt.xz").write_bytes(lzma.compress(text.encode()))
    source = HubSource("fi", "cc100")
    assert list(source.paragraphs()) == ["Ensimmäinen lause. Toinen.", "Kolmas.", "Uusi asiakirja."]
    assert source.revision.endswith("GMT")  # this server knows dates only
    with pytest.raises(InputError, match="no such file at http"):
        list(HubSource("et", "cc100").paragraphs())


def test_cc100_goes_on_where_the_connection_broke(tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "CC100_URL", server)
    monkeypatch.setattr("time.sleep", lambda _: None)
    lines = [os.urandom(30).hex() for _ in range(5000)]
    data = lzma.compress("\n".join(lines).encode())
    (tmp_path / "served" / "fi.txt.xz").write_bytes(data)
    Serving.breaks_after = len(data) // 3
    assert list(HubSource("fi", "cc100").paragraphs()) == lines
    Serving.breaks_after = 0
    (tmp_path / "served" / "fi.txt.xz").write_bytes(data[: len(data) // 2])
    with pytest.raises(UnavailableError, match="damaged or incomplete data"):
        list(HubSource("fi", "cc100").paragraphs())


def test_cc100_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "CC100_URL", "http://127.0.0.1:9/{file}.txt.xz")
    with pytest.raises(UnavailableError, match=r"CC100 fi: cannot be reached .*Check the network.*local files"):
        list(HubSource("fi", "cc100").paragraphs())


@pytest.mark.parametrize("dataset", ["wikipedia", "fineweb2"])
def test_hub_out_of_reach(dataset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the client's error, the message is plain."""
    error = type("ConnectError", (Exception,), {"__module__": "httpx"})

    def refuse(*_: object, **__: object) -> None:
        raise error("[Errno -2] Name or service not known")

    monkeypatch.setattr("huggingface_hub.HfApi.dataset_info", refuse)
    with pytest.raises(UnavailableError, match=r"cannot be reached \(ConnectError: .*Check the network"):
        list(HubSource("fi", dataset).paragraphs())


def test_hub_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub.errors import OfflineModeIsEnabled, RepositoryNotFoundError

    def refuse(*_: object, **__: object) -> None:
        raise OfflineModeIsEnabled("offline mode is enabled")

    monkeypatch.setattr("huggingface_hub.HfApi.dataset_info", refuse)
    with pytest.raises(UnavailableError, match="HF_HUB_OFFLINE is set"):
        _ = HubSource("fi").revision

    def absent(*_: object, **__: object) -> None:
        raise RepositoryNotFoundError.__new__(RepositoryNotFoundError)

    monkeypatch.setattr("huggingface_hub.HfApi.dataset_info", absent)
    with pytest.raises(InputError, match="no such dataset"):
        _ = HubSource("fi", "nobody/nothing").revision
