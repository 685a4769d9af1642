import shutil

import pytest

from x2s.corpus.sources.apt import PackageCache
from x2s.errors import UnavailableError
from x2s.evaluate import freedict
from x2s.evaluate.dictd import entry_pairs


@pytest.mark.parametrize(
    ("entry", "pairs"),
    [
        # Ding: a label before, genders, notes, synonyms
        (
            "Teesorte /tˈeːsɔɾtə/ <fem, n, sg>\n [techn.] tea <n>, type of tea <n> [Br.] , sort <n>\n"
            "         Note: metallurgy\n   Synonyms: {Tee}\n\n see: {Teesorten}, {Teesorte}\n\n",
            [("Teesorte", "tea"), ("Teesorte", "sort")],
        ),
        (
            'Halte /hˈaltə/ <pl>\nstopping points, stops\n      "kleinere Haltestelle"  - halt\n',
            [("Halte", "stops")],
        ),
        # Ergane: senses with numbers
        (
            "tremper /tʀɑ̃pe/ <v>\n1. harden, temper\n2. dip, put in water, soak\n",
            [("tremper", "harden"), ("tremper", "temper"), ("tremper", "dip"), ("tremper", "soak")],
        ),
        # WikDict: glosses on lines of their own, stray numbers
        ("homie //ˈhoʊmi// //ˈhəʊmi// <n>\nkamu\na friend\n", [("homie", "kamu")]),
        (
            "beam //biːm// <v>\n1. säteilyttää\nscifi\n2. säteillä 2.\nto emit\n 3.\nto smile\n3. palkittaa\n",
            [("beam", "säteilyttää"), ("beam", "säteillä"), ("beam", "palkittaa")],
        ),
        # Hindi: combining marks, examples, ~ for a space
        ('paw /pˈɔː/ <VTI>\n1. पंजा\n      "The paw, it is."\n2. चापलूसी~करना\n', [("paw", "पंजा")]),
        # Turkish: abbreviations, cross-references, a full stop at the end
        ("trilogy /x/\n1. (tıb.) üçlü, triloji.\n2. (bak.) tri\n", [("trilogy", "üçlü"), ("trilogy", "triloji")]),
        (
            "made\n1. ing., (argo) çok.\n2. yapılmış; mamul\n",
            [("made", "çok"), ("made", "yapılmış"), ("made", "mamul")],
        ),
        # not words
        ("low-end /x/ <adj>\nhalpa, halpis-, 007\n", [("low-end", "halpa")]),
        ("to go /x/\ngehen\n", []),
        ("No! /x/\nNein!\n", []),
        ("00-database-info\nThis dictionary\n", []),
        ("lonely\n", []),
    ],
)
def test_entries(entry, pairs):
    assert list(entry_pairs(entry)) == pairs


@pytest.fixture
def archive(monkeypatch, tmp_path):
    """An archive with one direction of English and Russian."""
    folder = tmp_path / "dict-freedict-eng-rus_1_all"
    dictd = folder / "usr" / "share" / "dictd"
    dictd.mkdir(parents=True)
    entry = "door /x/\nдверь\n"
    (dictd / "freedict-eng-rus.dict.dz").write_text(entry)
    (dictd / "freedict-eng-rus.index").write_text(f"door\tA\t{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[len(entry.encode())]}\n")

    def extracted(self, name):
        if name != "dict-freedict-eng-rus":
            raise UnavailableError("cannot be reached")
        return folder, "1"

    monkeypatch.setattr(PackageCache, "extracted", extracted)
    monkeypatch.setattr(PackageCache, "available", lambda self, prefix: ["dict-freedict-eng-rus"])
    return monkeypatch


def test_the_direction_that_is_absent_is_turned_around(archive, tmp_path):
    lexicon = freedict("ru", "en", tmp_path / "cache")
    assert lexicon.pairs == (("дверь", "door"),)
    assert (lexicon.source_language, lexicon.target_language) == ("ru", "en")
    assert lexicon.name == "FreeDict eng-rus 1"
    other = freedict("en", "ru", tmp_path / "cache")
    assert other.pairs == (("door", "дверь"),)
    assert other.revision == lexicon.revision


def test_no_dictionary(archive, tmp_path):
    with pytest.raises(UnavailableError, match=r"no dictionary for kat and eng.*eng-rus"):
        freedict("ka", "en", tmp_path)


def test_no_archive(archive, tmp_path):
    archive.setattr(PackageCache, "available", lambda self, prefix: [])
    with pytest.raises(UnavailableError, match="cannot be reached"):
        freedict("ka", "en", tmp_path)


@pytest.mark.debian
def test_the_real_archive(tmp_path):
    if shutil.which("apt-get") is None:
        pytest.skip("apt-get is absent: not a Debian-like system")
    try:
        lexicon = freedict("ru", "en", tmp_path)
        french = freedict("fr", "en", tmp_path)
    except UnavailableError as error:
        pytest.skip(f"no Debian archive here: {error}")
    assert len(lexicon) > 1500
    assert "door" in lexicon.translations()["дверь"]
    assert len(french) > 10_000
    assert "house" in french.translations()["maison"]
    assert "eng-fra" in french.name
    assert "fra-eng" in french.name
