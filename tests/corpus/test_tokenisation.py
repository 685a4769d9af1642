import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
import regex
from benchmarks.segmentation import TREEBANKS, read_conllu, token_f1
from hypothesis import given, settings
from hypothesis import strategies as st

from x2s.corpus.tokenisation import word_tokenizer
from x2s.errors import FileFormatError, InputError, MissingExtraError
from x2s.languages import LANGUAGES, get_language

UNSEEN = regex.compile(r"[\s\p{Cf}\x00-\x1f\x7f]+")

EXAMPLES = {
    ("en", "I can't and won't: it's Dr. Smith's e-mail... Really?!"): (
        "I ca n't and wo n't : it 's Dr. Smith 's e-mail ... Really ?!"
    ),
    ("en", "See https://www.example.org/a?b=c, or mail me@example.org (50%)."): (
        "See https://www.example.org/a?b=c , or mail me@example.org ( 50 % ) ."
    ),
    ("en", "The U.S. Army left at 10:30."): "The U.S. Army left at 10:30 .",
    ("fr", "Qu'est-ce que l’homme n'a pas aujourd'hui, c'est-à-dire peut-être ?"): (
        "Qu' est -ce que l’ homme n' a pas aujourd'hui , c'est-à-dire peut-être ?"
    ),
    ("fr", "Comment va-t-il à 20h45 ?"): "Comment va -t -il à 20 h 45 ?",
    ("it", "L'uomo dell'acqua beve un po' di tè."): "L' uomo dell' acqua beve un po' di tè .",
    (
        "de",
        "Am 3. Oktober kostet ein E-Mail-Programm 3,50 €.",
    ): "Am 3. Oktober kostet ein E-Mail-Programm 3,50 € .",
    ("fi", "Työ- ja elinkeinoministeriö, ks. 3. luku."): "Työ- ja elinkeinoministeriö , ks. 3. luku .",
    ("tr", "Ankara'da saat 10'da buluştuk."): "Ankara'da saat 10'da buluştuk .",
    ("id", "Anak-anak bermain."): "Anak-anak bermain .",
    ("af", "Dit is 'n boek."): "Dit is 'n boek .",
    ("nl", "Foto's zijn zo'n 3.5 MB."): "Foto's zijn zo'n 3.5 MB .",
    (
        "ja",
        "東京に住んでいます。https://example.jp/を見る。",
    ): "東京 に 住ん で い ます 。 https://example.jp/ を 見る 。",
    ("zh", "请访问https://example.cn/a，价格是3.5元。"): "请 访问 https://example.cn/a ， 价格 是 3.5 元 。",
    ("ko", "저는 3.5달러를 냈다고, 말했어요."): "저는 3.5 달러를 냈다고 , 말했어요 .",
    ("th", "ฉันไปโรงเรียน"): "ฉัน ไป โรงเรียน",
    ("hi", "तुम कैसे हो?"): "तुम कैसे हो ?",
    ("fa", "کتاب‌ها را خواندم."): "کتاب‌ها را خواندم .",
}


@pytest.mark.parametrize(("code", "text"), EXAMPLES)
def test_real_sentences(code: str, text: str) -> None:
    assert " ".join(word_tokenizer(get_language(code))(text)) == EXAMPLES[code, text]


alphabets = st.sampled_from(
    [
        "abcé'’-.,:/@!? \t\n",
        "私はカナ漢。「」 a1",
        "ကျောင်းသ။ ",
        "ฉันไปโรงเรียน ",
        "한국어. a",
        "کتاب‌ها ؟",
        "a\x00\x1f\u200b\ufeff\u0301 \u00a0",
    ]
)
texts = st.one_of(st.text(max_size=60), alphabets.flatmap(lambda letters: st.text(letters, max_size=60)))
TOOLS = [("en", "icu"), ("fr", "icu"), ("eu", "icu"), ("zh", "icu"), ("th", "icu"), ("my", "icu")]
TOOLS += [("ko", "regex"), ("fi", "regex"), ("ja", "fugashi"), ("zh", "jieba"), ("ceb", "icu")]


@pytest.mark.parametrize(("code", "tool"), TOOLS)
@given(text=texts)
@settings(max_examples=120, deadline=None)
def test_tokens_cover_all_that_is_visible(code: str, tool: str, text: str) -> None:
    tokens = word_tokenizer(get_language(code), tool)(text)
    assert UNSEEN.sub("", "".join(tokens)) == UNSEEN.sub("", text)
    assert all(tokens), tokens
    assert not any(character.isspace() for token in tokens for character in token)


def test_lone_surrogates_from_json_separate_words() -> None:
    for code in ("en", "ja", "ko", "zh"):
        assert word_tokenizer(get_language(code))("a \ud800 b") == ["a", "b"]


def test_nothing_comes_of_nothing() -> None:
    for language in LANGUAGES.values():
        assert word_tokenizer(language)("") == []
        assert word_tokenizer(language)(" \t\n\u200b") == []


def test_tokenizers_work_in_other_processes() -> None:
    tokenizers = [word_tokenizer(get_language(code)) for code in ("en", "ja", "ko")]
    assert pickle.loads(pickle.dumps(tokenizers)) == tokenizers
    with ProcessPoolExecutor(1) as pool:
        assert pool.submit(tokenizers[1], "日本語です").result() == ["日本", "語", "です"]


def test_unknown_tool() -> None:
    with pytest.raises(InputError, match=r"unknown tokenizer 'spacy' for de: expected icu, fugashi"):
        word_tokenizer(get_language("de"), "spacy")


def test_udpipe_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ufal.udpipe", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'x2s\[udpipe\]'"):
        word_tokenizer(get_language("de"), "udpipe:de.udpipe")


def test_udpipe_with_a_file_that_is_no_model(tmp_path: Path) -> None:
    pytest.importorskip("ufal.udpipe")
    with pytest.raises(InputError, match="found no file"):
        word_tokenizer(get_language("de"), f"udpipe:{tmp_path / 'absent.udpipe'}")
    wrong = tmp_path / "wrong.udpipe"
    wrong.write_text("no model")
    with pytest.raises(FileFormatError, match="expected a UDPipe 1 model"):
        word_tokenizer(get_language("de"), f"udpipe:{wrong}")


def test_imports_are_lazy_and_jieba_is_silent() -> None:
    program = (
        "import sys\n"
        "from x2s.corpus.tokenisation import word_tokenizer\n"
        "from x2s.languages import get_language\n"
        "tokenize = word_tokenizer(get_language('zh'), 'jieba')\n"
        "loaded = {'jieba', 'fugashi', 'icu4py', 'pythainlp', 'kiwipiepy'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
        "assert tokenize('我来到北京') == ['我', '来到', '北京']\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


FLOORS = {"de": 0.98, "en": 0.985, "eu": 0.995, "fi": 0.99, "fr": 0.995, "tr": 0.994, "zh": 0.78}


@pytest.mark.data
@pytest.mark.parametrize("code", FLOORS)
def test_token_f1_on_universal_dependencies(x2s_data: Path, code: str) -> None:
    sentences = list(read_conllu(x2s_data / "ud" / f"{TREEBANKS[code]}.conllu"))
    value, items = token_f1(sentences, word_tokenizer(get_language(code)))
    assert items > 9000
    assert value >= FLOORS[code]
