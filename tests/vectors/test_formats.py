import gzip
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from x2s.errors import FileFormatError, InputError
from x2s.vectors import WordVectors, read_word2vec, text_format, write_word2vec

ODD = ("New York", "\u00a0", "a\u2028b", "\x85", "\r", 'q"x', "", "e\u0301", "1", "\x0b")
MATRIX = np.random.default_rng(0).normal(size=(len(ODD), 3)).astype(np.float32)


def written(tmp_path, content: bytes | str, name: str = "v.vec"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(tmp_path, content, **options):
    return read_word2vec(written(tmp_path, content), **options)


@pytest.mark.parametrize("name", ["v.vec", "v.vec.gz"])
@pytest.mark.parametrize("binary", [False, True])
def test_odd_words_come_back(tmp_path, binary, name):
    words = ODD[1:] if binary else ODD  # binary cannot hold spaces
    path = tmp_path / name
    write_word2vec(path, words, MATRIX[: len(words)], binary)
    again, matrix = read_word2vec(path)
    assert again == words
    assert np.array_equal(matrix.view(np.uint32), MATRIX[: len(words)].view(np.uint32))
    assert path.read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")


FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
WORDS = st.text(st.characters(exclude_characters="\n ", exclude_categories=["Cs"]), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(WORDS, st.tuples(FLOATS, FLOATS), min_size=1, max_size=6), st.booleans())
def test_any_float_and_word_comes_back(tmp_path_factory, rows, binary):
    path = tmp_path_factory.mktemp("v") / "v.vec"
    matrix = np.array(list(rows.values()), dtype=np.float32)
    write_word2vec(path, list(rows), matrix, binary)
    words, again = read_word2vec(path, binary)
    assert words == tuple(rows)
    assert np.array_equal(again.view(np.uint32), matrix.view(np.uint32))


@settings(max_examples=200, deadline=None)
@given(st.floats(1e-30, 1e30), st.integers(1, 25))
def test_numbers_are_rounded_as_numpy_rounds_them(tmp_path_factory, number, digits):
    text = f"{number:.{digits}e}"
    path = tmp_path_factory.mktemp("v") / "v.vec"
    path.write_text(f"1 1\na {text}\n")
    assert read_word2vec(path)[1][0, 0] == np.float32(text)


def test_double_rounding_as_numpy_does_it(tmp_path):
    """Just above the middle of two float32: by way of float64 this is a tie, rounded to even."""
    text = "1.0000000596046447753906251"
    assert read(tmp_path, f"1 1\na {text}\n")[1][0, 0] == np.float32(text) == 1


def test_the_careful_parser_gives_the_same(tmp_path, monkeypatch):
    path = tmp_path / "v.vec"
    generator = np.random.default_rng(1)
    words = [f"w{number}" for number in range(3000)]
    write_word2vec(path, words, generator.normal(size=(3000, 20)).astype(np.float32))
    fast = read_word2vec(path)
    monkeypatch.setattr(text_format, "_clean_table", lambda block, dimension: None)
    careful = read_word2vec(path)
    assert fast[0] == careful[0]
    assert np.array_equal(fast[1].view(np.uint32), careful[1].view(np.uint32))


def test_blocks_are_put_together_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(text_format, "_BLOCK_BYTES", 64)
    words = tuple(f"w {number}" if number % 7 == 0 else f"w{number}" for number in range(500))
    matrix = np.arange(1500, dtype=np.float32).reshape(500, 3)
    write_word2vec(tmp_path / "v", words, matrix)
    again = read_word2vec(tmp_path / "v")
    assert again[0] == words
    assert np.array_equal(again[1], matrix)
    content = (tmp_path / "v").read_text().replace("w303 909", "w303 x")
    with pytest.raises(FileFormatError, match=r"line 305: .*'x'"):
        read(tmp_path, content)


@pytest.mark.parametrize(
    "content",
    [
        "2 2\na 1 2\nb 3 4\n",
        "2 2\na 1 2 \nb 3 4 \n",  # fastText
        "2 2\r\na 1 2\r\nb 3 4\r\n",
        "2 2\na 1 2\nb 3 4",  # no line feed at the end
        "2 2\na 1 2\n\nb 3 4\n\n\n",
        "a 1 2\nb 3 4\n",  # GloVe
        "a 1 2\nb 3 4",
        "2 2\na\t1\t2\nb\t3\t4\n",
        "2 2\na  1  2\nb 3 4\n",
        "\ufeff2 2\na 1 2\nb 3 4\n",
        "2 2\na 1e0 +2.0\nb 3. .4e1\n",
    ],
)
def test_harmless_variants(tmp_path, content):
    words, matrix = read(tmp_path, content)
    assert words == ("a", "b")
    assert matrix.tolist() == [[1, 2], [3, 4]]


def test_glove_with_spaces_in_the_first_word(tmp_path):
    words, matrix = read(tmp_path, ". . . 1 2\nb 3 4\n")
    assert words == (". . .", "b")
    assert matrix.tolist() == [[1, 2], [3, 4]]


def test_duplicates(tmp_path):
    with pytest.warns(UserWarning, match="left out 2 lines.*'a'"):
        words, matrix = read(tmp_path, "4 1\na 1\nb 2\na 3\na 4\n")
    assert words == ("a", "b")
    assert matrix.tolist() == [[1], [2]]


def test_limit(tmp_path):
    content = "3 1\na 1\nb 2\nc 3\n"
    assert read(tmp_path, content, limit=2)[0] == ("a", "b")
    assert read(tmp_path, content, limit=9)[0] == ("a", "b", "c")
    assert read(tmp_path, content.replace("3 1", "5 1"), limit=2)[0] == ("a", "b")
    assert read(tmp_path, content.replace("3 1", "5 1"), limit=5)[0] == ("a", "b", "c")
    assert read(tmp_path, "a 1\nb 2\n", limit=1)[0] == ("a",)
    with pytest.raises(InputError, match="limit"):
        read(tmp_path, content, limit=0)


def test_a_limit_reads_no_further(tmp_path, monkeypatch):
    monkeypatch.setattr(text_format, "_BLOCK_BYTES", 16)
    content = "900 1\n" + "".join(f"w{number} 1\n" for number in range(800)) + "ragged\n"
    assert len(read(tmp_path, content, limit=10)[0]) == 10


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("3 2\na 1 2\nb 3 4\n", 1, "expected 3 words.*got 2.*limit=2"),
        ("1 2\na 1 2\nb 3 4\n", 1, "expected 1 words.*got 2"),
        ("2 2\na 1 2\nb 3\n", 3, "a word and 2 numbers, got 2 fields"),
        ("2 2\na 1 2\nb 3 x\n", 3, "got 'x' among them"),
        ("2 2\na 1 2\nNew York 3\n", 3, "got 'York'"),
        ("2 2\na 1 2\nb 3 1_0\n", 3, "'1_0'"),
        ("2 3\na 1 2\nb 3 4\n", 2, "a word and 3 numbers, got 3 fields"),
        ("2 1\na 1 2\nb 3 4\n", 2, "expected 1 numbers as the header says, got 2"),
        ("2 0\na\nb\n", 1, "header"),
        ("2 2\na 1 2\nb nan 4\n", 3, "finite numbers, got 'nan'"),
        ("2 2\na 1 2\n\nb 3 inf\n", 4, "finite numbers, got 'inf'"),
        ("2 2\na 1 2\nb 3 1e39\n", 3, "finite numbers, got '1e39'"),
        (b"2 2\na 1 2\nb\xe9 3 4\n", 3, "got 0xe9 at byte 2 of the line.*errors='replace'"),
        ("", None, "empty file"),
        ("\n\n", None, "empty file"),
        ("<html>\n", 1, "Is this a file of word vectors"),
        ("<!DOCTYPE html>\n<p>not found\n", 1, "got 'html>'"),
        ("99999999999999 300\na 1\n", 1, "more than memory|words as the header|300 numbers"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, content, line, message):
    with pytest.raises(FileFormatError, match=message) as caught:
        read(tmp_path, content)
    assert line is None or caught.value.line in (line, 2 if line == 1 else line)
    assert caught.value.path.name == "v.vec"


def test_no_line_end_at_all(tmp_path, monkeypatch):
    monkeypatch.setattr(text_format, "_LONGEST_LINE", 1000)
    monkeypatch.setattr(text_format, "_BLOCK_BYTES", 500)
    with pytest.raises(FileFormatError, match="without a line end"):
        read(tmp_path, "a" * 5000, binary=False)


def test_replaced_bytes(tmp_path):
    words, _ = read(tmp_path, b"2 2\na 1 2\nb\xe9 3 4\n", errors="replace")
    assert words == ("a", "b\ufffd")


def test_no_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_word2vec(tmp_path / "absent")
    with pytest.raises(InputError, match="no such file"):
        read_word2vec(tmp_path)


def test_cut_short_gzip(tmp_path):
    whole = gzip.compress(b"2 2\na 1 2\nb 3 4\n" * 50)
    with pytest.raises(FileFormatError, match="whole gzip"):
        read(tmp_path, whole[:-12])


BINARY = b"2 2\n" + b"a " + np.array([1, 2], "<f4").tobytes() + b"\n" + b"b " + np.array([3, 4], "<f4").tobytes()


@pytest.mark.parametrize("content", [BINARY, BINARY + b"\n", BINARY.replace(b"\nb ", b"b ")])
def test_binary_with_and_without_line_feeds(tmp_path, content):
    words, matrix = read(tmp_path, content)
    assert words == ("a", "b")
    assert matrix.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BINARY[:-3], "expected 2 words.*within word 2.*limit=1"),
        (BINARY.replace(b"2 2", b"3 2", 1), "expected 3 words.*within word 3"),
        (BINARY.replace(b"2 2", b"1 2", 1), "got more after them.*limit=1"),
        (BINARY.replace(b"b ", b"\xff "), "0xff at byte 1 of word 2"),
        (BINARY[:-4] + np.array([np.nan], "<f4").tobytes(), r"word 2 \('b'\) has NaN"),
        (b"hello\n", "expected a header"),
    ],
)
def test_what_is_wrong_in_binary_is_named(tmp_path, content, message):
    with pytest.raises(FileFormatError, match=message):
        read(tmp_path, content, binary=True)


def test_binary_limit(tmp_path):
    assert read(tmp_path, BINARY, binary=True, limit=1)[0] == ("a",)
    assert read(tmp_path, BINARY, binary=True, limit=7)[0] == ("a", "b")


def test_binary_in_many_reads(tmp_path, monkeypatch):
    from x2s.vectors import binary_format

    monkeypatch.setattr(binary_format, "_READ_BYTES", 50)
    words = tuple(f"word{number}" for number in range(300))
    matrix = np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32)
    write_word2vec(tmp_path / "v", words, matrix, binary=True)
    again = read_word2vec(tmp_path / "v")
    assert again[0] == words
    assert np.array_equal(again[1], matrix)


@pytest.mark.parametrize(("word", "binary"), [("a\nb", False), ("a\nb", True), ("a b", True)])
def test_words_that_a_format_cannot_hold(tmp_path, word, binary):
    with pytest.raises(InputError, match="cannot hold the word"):
        write_word2vec(tmp_path / "v", [word], np.ones((1, 2), dtype=np.float32), binary)
    assert not list(tmp_path.iterdir())


def test_word_vectors_wrap_the_formats(tmp_path):
    vectors = WordVectors(("a", "b"), np.eye(2), "de")
    vectors.to_word2vec(tmp_path / "v.bin", binary=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = WordVectors.from_word2vec(tmp_path / "v.bin", language="de", limit=1)
    assert (again.words, again.language) == (("a",), "de")


def test_a_lone_surrogate_is_refused_before_anything_is_written(tmp_path):
    vectors = WordVectors(("good", "ba\ud800d"), np.eye(2, dtype=np.float32))
    with pytest.raises(InputError, match="lone surrogate"):
        vectors.to_word2vec(tmp_path / "x.vec")
    assert not list(tmp_path.iterdir())


def test_a_damaged_gzip_file(tmp_path):
    path = tmp_path / "x.vec.gz"
    generator = np.random.default_rng(0)
    with gzip.open(path, "wt") as file:
        file.write(
            "400 5\n" + "".join(f"w{row} {' '.join(map(str, generator.normal(size=5)))}\n" for row in range(400))
        )
    data = bytearray(path.read_bytes())
    for place in range(60, len(data) - 60, len(data) // 20):
        broken = bytes(data[:place]) + bytes(8 * [0xA5]) + bytes(data[place + 8 :])
        path.write_bytes(broken)
        with pytest.raises(FileFormatError):
            WordVectors.from_word2vec(path)
