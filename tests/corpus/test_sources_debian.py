"""LibreOffice help: the page parser, packages built here and served by a stand-in for apt, and the real archive."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from x2s.corpus.sources import LibreOfficeHelp, Measured, Selective
from x2s.corpus.sources.help_pages import page_paragraphs
from x2s.errors import InputError, UnavailableError

PAGE = """<!DOCTYPE html><html><head><title>{title}</title><script>var a = "<p id='x'>no</p>";</script></head><body>
<header><p id="top">LibreOffice Help</p></header><aside><nav><li>Index</li></nav></aside>
<div id="DisplayArea">
<h1 id="hd_1" dir="auto">{title}</h1>
<p id="par_1" class="paragraph"><span class="avis">{first} &amp; <a href="x">more</a>.</span><br>{second}</p>
<div class="howtoget"><p class="howtogetheader">How to get there:</p></div>
<p class="embedded">no identifier</p>
<div class="notetext"><p dir="auto">{note}</p></div>
<ol><li><p id="par_2" class="listitem">{item}</p></li><li>{leaf}</li></ol>
<table><tr><td>\n<p id="par_3">{cell}</p>\n</td><td>{bare}</td></tr></table>
<p id="par_4" class="code">print("listing")</p><pre>listing</pre>
<div class="relatedtopics"><p id="par_5" class="related">Related Topics</p></div>
</div><footer><h3 class="bug">Help content debug info:</h3><p id="bm_module">x</p></footer></body></html>"""
ENGLISH = {
    "title": "Saving", "first": "Saves the file", "second": "Choose a name for it.", "note": "The old file is lost.",
    "item": "Click Save.", "leaf": "Or press the key.", "cell": "Text", "bare": "123",
}  # fmt: skip
GERMAN = {
    "title": "Speichern", "first": "Speichert die Datei", "second": "Wählen Sie einen Namen.",
    "note": "Die alte Datei geht verloren.", "item": "Klicken Sie auf Speichern.", "leaf": "Or press – the key",
    "cell": "Text", "bare": "123",
}  # fmt: skip


class TestPage:
    def test_text_and_nothing_else(self) -> None:
        found = page_paragraphs(PAGE.format(**ENGLISH), "shared/save.html")
        assert [(paragraph.id, paragraph.text) for paragraph in found] == [
            ("hd_1", "Saving"),
            ("par_1", "Saves the file & more. Choose a name for it."),
            ("", "The old file is lost."),
            ("par_2", "Click Save."),
            ("", "Or press the key."),
            ("par_3", "Text"),
            ("", "123"),
        ]
        assert {paragraph.page for paragraph in found} == {"shared/save.html"}

    def test_inline_switch_keeps_one_alternative(self) -> None:
        mac = '<span hidden="true" id="MACx_1" class="MAC"><span class="keycode">Command</span></span>'
        other = '<span hidden="true" id="defaultx_1"><span class="keycode">Ctrl</span></span>'
        unix = '<span hidden="true" id="UNIXx_1" class="UNIX">Alt</span>'

        def text(*alternatives: str) -> str:
            switch = f'<span id="swlnsysx_1" class="switchinline">{"".join(alternatives)}</span>'
            (found,) = page_paragraphs(f'<p id="a">Press {switch}<span>+S</span> now.</p>', "")
            return found.text

        assert text(mac, other) == text(other, mac) == "Press Ctrl+S now."
        assert text(mac, unix) == "Press Command+S now."
        assert text() == "Press +S now."

    def test_block_switch_keeps_all(self) -> None:
        block = '<span class="switch"><span hidden="true" id="{0}x" class="{0}"><p id="{0}">For {0}.</p></span></span>'
        found = page_paragraphs(block.format("CALC") + block.format("WRITER"), "")
        assert [paragraph.text for paragraph in found] == ["For CALC.", "For WRITER."]

    @pytest.mark.parametrize(
        ("html", "texts"),
        [
            ("<p id=a>One<p id=b>Two", ["One", "Two"]),
            ("</div></p><p id=a>One</b></p>", ["One"]),
            ("<p id=a>One<h2>Two</h2>", ["One", "Two"]),
            ("<p id=a>a&nbsp;b&#x2014;c &lt;x&gt;</p>", ["a b—c <x>"]),
            ("<p id=a><!-- no --><img alt=x></p>", []),
            ("", []),
        ],
    )
    def test_broken_html(self, html: str, texts: list[str]) -> None:
        assert [paragraph.text for paragraph in page_paragraphs(html, "")] == texts


needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is absent: not a Debian-like system")
APT = """#!{python}
# Stands in for apt-get and apt-cache: a folder is the archive.
import os, shutil, sys
from pathlib import Path
archive, log = Path({archive!r}), Path({log!r})
arguments = [a for i, a in enumerate(sys.argv[1:]) if a != "-q" and a != "-o" and sys.argv[i] != "-o"]
private = any(a.startswith("Dir::State=") for a in sys.argv)
with log.open("a") as file:
    file.write(" ".join(arguments) + (" private" if private else "") + "\\n")
mode = Path({mode!r}).read_text()
if mode == "unreachable" or (mode == "no lists" and not private):
    print("E: Unable to locate package " + arguments[-1], file=sys.stderr)
    print("W: Failed to fetch http://deb.example.org/", file=sys.stderr)
    sys.exit(0 if arguments[0] in ("update", "search") else 100)
if arguments[0] == "download":
    debs = list(archive.glob(arguments[1] + "_*.deb"))
    if not debs:
        print("E: Unable to locate package " + arguments[1], file=sys.stderr)
        sys.exit(100)
    shutil.copy(debs[0], ".")
elif arguments[0] == "search":
    prefix = arguments[-1].lstrip("^")
    for deb in archive.glob(prefix + "*.deb"):
        print(deb.name.split("_")[0], "- help")
"""


class Archive:
    """An archive with German and English help, and the commands to reach it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "archive"
        self.log, self.mode = folder / "log", folder / "mode"
        self.folder.mkdir()
        self.log.touch()
        self.mode.write_text("")
        self.build("en-us", ENGLISH)
        self.build("de", GERMAN)
        for tool in ("apt-get", "apt-cache"):
            script = folder / "bin" / tool
            script.parent.mkdir(exist_ok=True)
            values = {"archive": str(self.folder), "log": str(self.log), "mode": str(self.mode)}
            script.write_text(APT.format(python=sys.executable, **values))
            script.chmod(0o755)

    def build(self, code: str, texts: dict[str, str], version: str = "4:7.4.7-1") -> None:
        root = self.folder / f"build-{code}"
        pages = root / "usr" / "share" / "libreoffice" / "help" / code / "text" / "shared"
        (root / "DEBIAN").mkdir(parents=True)
        pages.mkdir(parents=True)
        (root / "DEBIAN" / "control").write_text(
            f"Package: libreoffice-help-{code}\nVersion: {version}\nArchitecture: all\n"
            "Maintainer: Nobody <nobody@example.org>\nDescription: help\n"
        )
        for page in ("a", "b"):
            (pages / f"{page}.html").write_text(PAGE.format(**texts), encoding="utf-8")
        deb = self.folder / f"libreoffice-help-{code}_{version.replace(':', '%3a')}_all.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", root, deb], check=True, capture_output=True)

    def commands(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    made = Archive(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return made


@needs_dpkg
class TestPackages:
    def test_paragraphs_without_untranslated_ones(self, archive: Archive, tmp_path: Path) -> None:
        source = LibreOfficeHelp("de", tmp_path / "cache")
        german = ["Speichern", "Speichert die Datei & more. Wählen Sie einen Namen.", "Die alte Datei geht verloren."]
        assert list(source.paragraphs()) == [*german, "Klicken Sie auf Speichern."] * 2
        assert source.left_out == {"untranslated": 6}
        assert source.revision == "4:7.4.7-1"
        assert source.licence == "MPL-2.0"
        assert source.fraction_read == 1
        assert isinstance(source, Measured)
        assert isinstance(source, Selective)

    def test_pages(self, archive: Archive, tmp_path: Path) -> None:
        first, second = LibreOfficeHelp("en", tmp_path / "cache", unit="page").paragraphs()
        assert first == second
        assert first.split("\u2029")[::3] == ["Saving", "Click Save.", "123"]
        with pytest.raises(InputError, match="unit: expected paragraph or page, got 'book'"):
            LibreOfficeHelp("en", tmp_path, unit="book")  # type: ignore[arg-type]

    def test_packages_are_downloaded_once(self, archive: Archive, tmp_path: Path) -> None:
        for _ in range(2):
            list(LibreOfficeHelp("de", tmp_path / "cache").paragraphs())
        assert archive.commands() == ["download libreoffice-help-de", "download libreoffice-help-en-us"]

    def test_processes_wait_for_each_other(self, archive: Archive, tmp_path: Path) -> None:
        counts: list[int] = []

        def read() -> None:
            counts.append(len(list(LibreOfficeHelp("de", tmp_path / "cache").paragraphs())))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counts == [8] * 4
        assert len(archive.commands()) == 2

    def test_lists_of_its_own_where_the_system_has_none(self, archive: Archive, tmp_path: Path) -> None:
        archive.mode.write_text("no lists")
        assert list(LibreOfficeHelp("en", tmp_path / "cache").paragraphs())
        name = "libreoffice-help-en-us"
        assert archive.commands() == [f"download {name}", "update private", f"download {name} private"]

    def test_language_without_help(self, archive: Archive, tmp_path: Path) -> None:
        with pytest.raises(
            UnavailableError, match=r"no package libreoffice-help-sw for Swahili\. There are: de en-us\."
        ):
            list(LibreOfficeHelp("sw", tmp_path / "cache").paragraphs())

    def test_archive_out_of_reach(self, archive: Archive, tmp_path: Path) -> None:
        archive.mode.write_text("unreachable")
        message = r"cannot be reached.*network.*apt-get says: .*Failed to fetch http://deb\.example\.org"
        with pytest.raises(UnavailableError, match=message):
            _ = LibreOfficeHelp("de", tmp_path / "cache").revision

    def test_damaged_package(self, archive: Archive, tmp_path: Path) -> None:
        (tmp_path / "cache" / "debs").mkdir(parents=True)
        (tmp_path / "cache" / "debs" / "libreoffice-help-de_1_all.deb").write_bytes(b"<html>404</html>")
        with pytest.raises(UnavailableError, match=r"dpkg-deb.*Remove the file to download it again"):
            list(LibreOfficeHelp("de", tmp_path / "cache").paragraphs())

    def test_nothing_is_left_of_an_interrupted_download(self, archive: Archive, tmp_path: Path) -> None:
        archive.mode.write_text("unreachable")
        with pytest.raises(UnavailableError):
            _ = LibreOfficeHelp("de", tmp_path / "cache").revision
        assert not list((tmp_path / "cache").glob("download-*"))
        archive.mode.write_text("")
        assert LibreOfficeHelp("de", tmp_path / "cache").revision == "4:7.4.7-1"


@pytest.mark.parametrize("tool", ["apt-get", "dpkg-deb"])
def test_no_apt_here(tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == tool else real(name) or f"/usr/bin/{name}")
    with pytest.raises(UnavailableError, match=f"{tool} is not on this machine.*from local files or from the hub"):
        list(LibreOfficeHelp("de", tmp_path).paragraphs())


def test_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises((UnavailableError, OSError)):
        list(LibreOfficeHelp("de", tmp_path / "file").paragraphs())


@pytest.mark.debian
def test_the_real_archive(tmp_path: Path) -> None:
    if shutil.which("apt-get") is None:
        pytest.skip("apt-get is absent: not a Debian-like system")
    source = LibreOfficeHelp("hi", tmp_path)
    try:
        paragraphs = list(source.paragraphs())
    except UnavailableError as error:
        pytest.skip(f"no Debian archive here: {error}")
    assert len(paragraphs) > 5000
    assert source.left_out["untranslated"] > 10_000
    devanagari = sum("\u0900" <= character < "\u0980" for text in paragraphs for character in text)
    latin = sum(character.isascii() and character.isalpha() for text in paragraphs for character in text)
    assert devanagari > latin
