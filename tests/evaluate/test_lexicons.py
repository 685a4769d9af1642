import gzip
import hashlib

import pytest

from x2s.errors import FileFormatError, InputError
from x2s.evaluate import Lexicon, read_lexicon


def written(tmp_path, content, name="l.txt"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_muse(tmp_path):
    path = written(tmp_path, "Haus house\nhaus\thome\r\n\nBaum tree\nhaus house\n")
    lexicon = read_lexicon(path, "muse", "de", "en")
    assert lexicon.pairs == (("haus", "house"), ("haus", "home"), ("baum", "tree"))
    assert lexicon.translations() == {"haus": ("house", "home"), "baum": ("tree",)}
    assert (lexicon.source_language, lexicon.target_language, lexicon.name) == ("de", "en", "l.txt")
    assert lexicon.revision == f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    assert len(lexicon) == 3


def test_xling_and_panlex_keep_case_and_spaces(tmp_path):
    path = written(tmp_path, "New York\tNew York\nHaus\thouse\n")
    for format in ("xling", "panlex"):
        assert read_lexicon(path, format).pairs == (("New York", "New York"), ("Haus", "house"))


def test_several_files_are_one_lexicon(tmp_path):
    first, second = written(tmp_path, "a b\n", "1"), written(tmp_path, "a c\na b\n", "2")
    lexicon = read_lexicon([first, second], name="all")
    assert lexicon.pairs == (("a", "b"), ("a", "c"))
    assert lexicon.name == "all"
    assert lexicon.revision != read_lexicon([second, first]).revision


def test_reversed_and_lowercased():
    lexicon = Lexicon("de", "en", (("Haus", "House"), ("haus", "house")), "n", "r")
    assert lexicon.reversed().pairs == (("House", "Haus"), ("house", "haus"))
    assert lexicon.reversed().source_language == "en"
    assert lexicon.lowercased().pairs == (("haus", "house"),)
    assert lexicon.lowercased(source=False).pairs == (("Haus", "house"), ("haus", "house"))


@pytest.mark.parametrize(
    ("content", "format", "line", "message"),
    [
        ("a b\nc\n", "muse", 2, "'source target'"),
        ("a b\nc d e\n", "muse", 2, "'source target'"),
        ("a b\n", "xling", 1, "<TAB>"),
        ("a\t\n", "panlex", 1, "<TAB>"),
        (b"a b\n\xe9 c\n", "muse", 2, "UTF-8"),
        ("", "muse", None, "none"),
        ("<html><body>404 Not Found</body></html>\n", "muse", 1, "Is this a lexicon"),
    ],
)
def test_bad_files(tmp_path, content, format, line, message):
    with pytest.raises(FileFormatError, match=message) as caught:
        read_lexicon(written(tmp_path, content), format)
    assert caught.value.line == line


def test_bad_arguments(tmp_path):
    with pytest.raises(InputError, match="no such lexicon"):
        read_lexicon(tmp_path / "absent")
    with pytest.raises(InputError, match="muse, xling, panlex, freedict"):
        read_lexicon(tmp_path / "absent", "vecmap")
    with pytest.raises(InputError, match="got none"):
        read_lexicon([])


DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def base64(number: int) -> str:
    return (base64(number // 64) if number >= 64 else "") + DIGITS[number % 64]


def dictd(tmp_path, *entries: str, compress: bool = True):
    data, index = b"", ""
    for entry in entries:
        content = entry.encode()
        index += f"{entry.split()[0]}\t{base64(len(data))}\t{base64(len(content))}\n"
        data += content
    written(tmp_path, index, "d.index")
    return written(tmp_path, gzip.compress(data) if compress else data, "d.dict.dz" if compress else "d.dict")


@pytest.mark.parametrize("compress", [True, False])
def test_freedict(tmp_path, compress):
    path = dictd(
        tmp_path,
        "00-database-info\nA dictionary\n",
        "house /haʊs/ <n>\n1. Haus <neut>, Gebäude <neut> [constr.]\n2. Geschlecht (dynasty)\n   Synonym: {home}\n",
        "big house /x/\nVilla\n",
        "tree\nBaum\nsomething that grows\n",
        compress=compress,
    )
    lexicon = read_lexicon(path, "freedict", "en", "de")
    expected = {"house": ("Haus", "Gebäude", "Geschlecht"), "tree": ("Baum",)}
    assert lexicon.translations() == expected


def test_damaged_freedict(tmp_path):
    path = dictd(tmp_path, "tree\nBaum\n")
    (tmp_path / "d.index").write_text("tree\tA\tZZ\n")
    with pytest.raises(FileFormatError, match=r"d\.index, line 1: .*within the dictionary's 10 bytes"):
        read_lexicon(path, "freedict")
    (tmp_path / "d.index").write_text("tree\tA\n")
    with pytest.raises(FileFormatError, match="offset"):
        read_lexicon(path, "freedict")
    (tmp_path / "d.index").unlink()
    with pytest.raises(InputError, match="index"):
        read_lexicon(path, "freedict")
    path = dictd(tmp_path, "tree\nBaum\n")
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(FileFormatError, match="dictzip"):
        read_lexicon(path, "freedict")


@pytest.mark.data
def test_real_files(x2s_data):
    bli = x2s_data / "bli"
    muse = read_lexicon(bli / "muse" / "de-en.5000-6500.txt", "muse", "de", "en")
    assert len(muse.translations()) == 1500
    both = read_lexicon([bli / "muse" / f"de-en.{part}.txt" for part in ("0-5000", "5000-6500")])
    assert len(both.translations()) == 6500
    assert len(read_lexicon(bli / "xling" / "yacle.test.freq.2k.en-tr.tsv", "xling").translations()) > 1900
    assert len(read_lexicon(bli / "panlex" / "fi-tr.test.2000.cc.trans", "panlex")) > 1900


@pytest.mark.data
@pytest.mark.parametrize(("folder", "format"), [("muse", "muse"), ("xling", "xling"), ("panlex", "panlex")])
def test_every_real_file_can_be_read(x2s_data, folder, format):
    for path in sorted((x2s_data / "bli" / folder).iterdir()):
        assert len(read_lexicon(path, format)) > 900
