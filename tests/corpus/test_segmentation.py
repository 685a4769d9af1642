import pickle
from pathlib import Path

import pytest
import regex
from benchmarks.segmentation import TREEBANKS, GoldSentence, read_conllu, sentence_f1, spans
from hypothesis import given, settings
from hypothesis import strategies as st

from x2s.corpus.segmentation import sentence_splitter
from x2s.errors import InputError
from x2s.languages import LANGUAGES, get_language

UNSEEN = regex.compile(r"[\s\p{Cf}\x00-\x1f\x7f]+")

EXAMPLES = {
    "en": ["Dr. J. Smith came.", '"What?" he asked.', "The U.S. Army (see https://example.org/a?b=c) left!", "Why?"],
    "de": ["Am 3. Oktober kam Dr. Müller, z. B. um acht.", "„Wie geht's?“, fragte er.", "Siehe Abb. 3 bzw. Nr. 5."],
    "fr": ["M. Dupont dit : « Allons-y ! »", "Rendez-vous à huit heures."],
    "es": ["¿Cómo estás?", "¡Muy bien!", "El Sr. García vive en EE. UU. desde 1990."],
    "eu": ["Hau da bukaera.", "- Bai, esan zuen."],
    "fi": ["Klo 15.30 tulee esim. Matti.", "Katso 3. luku."],
    "tr": ["Prof. Dr. Ayşe Hanım 3. kez geldi.", "Nasılsın? diye sordu."],
    "ru": ["В 1999 г. он переехал.", "А. С. Пушкин родился в Москве."],
    "ja": ["東京に住んでいます！", "「本当ですか？」と聞いた。"],
    "zh": ["我是学生。", "《红楼梦》是小说。"],
    "ko": ["안녕하세요.", "저는 학생입니다.", "오늘 날씨가 좋네요!"],
    "th": ["ผมชื่อสมชายครับ", "วันนี้อากาศดีมาก", "คุณสบายดีไหม"],
    "vi": ["TP. Hồ Chí Minh rất đẹp!", "Giá là 3.500 đồng."],
    "ta": ["வணக்கம்.", "திரு. குமார் வந்தார்."],
    "hi": ["डॉ. शर्मा ने कहा।", "तुम कैसे हो?"],
    "my": ["ကျွန်တော်ကျောင်းသားပါ။", "နေကောင်းလား။"],
    "ur": ["آپ کیسے ہیں؟", "شکریہ۔"],
}


@pytest.mark.parametrize("code", EXAMPLES)
def test_real_paragraphs(code: str) -> None:
    glue = "" if code in ("ja", "zh") else " "
    assert sentence_splitter(get_language(code))(glue.join(EXAMPLES[code])) == EXAMPLES[code]


def test_line_breaks_within_a_paragraph_are_spaces() -> None:
    assert sentence_splitter(get_language("en"))("It is\nlate,\tshe said. \r\n We go.") == [
        "It is late, she said.",
        "We go.",
    ]


texts = st.one_of(
    st.text(max_size=60), st.text("aB.!? \n\"'»«)(-1", max_size=60), st.text("私。」「とa！ \u200b\x00", max_size=40)
)
TOOLS = [
    ("en", "icu"),
    ("tr", "icu"),
    ("ja", "icu"),
    ("fr", "icu"),
    ("vi", "regex"),
    ("ta", "sentencex"),
    ("th", "crfcut"),
]


@pytest.mark.parametrize(("code", "tool"), [*TOOLS, ("th", "crfcut"), ("ko", "kiwi")])
@given(text=texts)
@settings(max_examples=100, deadline=None)
def test_sentences_cover_all_that_is_visible(code: str, tool: str, text: str) -> None:
    sentences = sentence_splitter(get_language(code), tool)(text)
    assert UNSEEN.sub("", "".join(sentences)) == UNSEEN.sub("", text)
    assert all(sentence and sentence == sentence.strip() for sentence in sentences)
    assert not any(mark in sentence for sentence in sentences for mark in "\t\n\r")


def test_nothing_comes_of_nothing() -> None:
    for language in LANGUAGES.values():
        assert sentence_splitter(language)("") == []
        assert sentence_splitter(language)(" \n\t") == []


def test_splitters_can_be_pickled() -> None:
    for language in LANGUAGES.values():
        splitter = sentence_splitter(language)
        assert pickle.loads(pickle.dumps(splitter)) == splitter


def test_unknown_tool() -> None:
    with pytest.raises(InputError, match="unknown sentence splitter 'punkt' for de: expected icu, regex"):
        sentence_splitter(get_language("de"), "punkt")


OWN_TREEBANK = """\
# text = Ich war im Haus.
1	Ich	_	_	_	_	0	_	_	_
2	war	_	_	_	_	0	_	_	_
3-4	im	_	_	_	_	_	_	_	_
3	in	_	_	_	_	0	_	_	_
4	dem	_	_	_	_	0	_	_	_
5	Haus	_	_	_	_	0	_	_	SpaceAfter=No
6	.	_	_	_	_	0	_	_	_

# text = Und du?
1	Und	_	_	_	_	0	_	_	_
2	du	_	_	_	_	0	_	_	SpaceAfter=No
3	?	_	_	_	_	0	_	_	_

"""


def test_gold_tokens_are_surface_tokens(tmp_path: Path) -> None:
    path = tmp_path / "own.conllu"
    path.write_text(OWN_TREEBANK, encoding="utf-8")
    first, second = read_conllu(path)
    assert first.tokens == ["Ich", "war", "im", "Haus", "."]
    assert second.text == "Und du?"


def test_sentence_f1_counts_both_ends() -> None:
    gold = [GoldSentence("A b."), GoldSentence("C d."), GoldSentence("E.")]
    assert sentence_f1(gold, lambda text: ["A b.", "C d.", "E."]) == (1.0, 3)
    assert sentence_f1(gold, lambda text: ["A b.", "C d. E."])[0] == pytest.approx(2 * 1 / (2 + 3))
    assert spans(["a b", "", "c"]) == [(0, 2), (2, 3)]


def test_udpipe_trained_here_cuts_sentences_and_surface_tokens(tmp_path: Path) -> None:
    udpipe = pytest.importorskip("ufal.udpipe", reason="needs the extra x2s[udpipe]")
    from x2s.corpus.tokenisation import word_tokenizer

    reader, error = udpipe.InputFormat.newConlluInputFormat(""), udpipe.ProcessingError()
    reader.setText(OWN_TREEBANK * 20)
    sentences, sentence = udpipe.Sentences(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    none = udpipe.Trainer.NONE
    options = "epochs=3;dimension=16;learning_rate=0.01;batch_size=50;dropout=0;early_stopping=0"
    model = udpipe.Trainer.train("morphodita_parsito", sentences, udpipe.Sentences(), options, none, none, error)
    assert not error.occurred(), error.message
    path = tmp_path / "own.udpipe"
    path.write_bytes(model)
    german = get_language("de")
    assert sentence_splitter(german, f"udpipe:{path}")("Ich war im Haus. Und du?") == ["Ich war im Haus.", "Und du?"]
    assert word_tokenizer(german, f"udpipe:{path}")("Ich war im Haus.") == ["Ich", "war", "im", "Haus", "."]


FLOORS = {"de": 0.80, "en": 0.65, "eu": 0.905, "fi": 0.84, "fr": 0.92, "tr": 0.945, "zh": 0.98}


@pytest.mark.data
@pytest.mark.parametrize("code", FLOORS)
def test_sentence_f1_on_universal_dependencies(x2s_data: Path, code: str) -> None:
    sentences = list(read_conllu(x2s_data / "ud" / f"{TREEBANKS[code]}.conllu"))
    value, items = sentence_f1(sentences, sentence_splitter(get_language(code)))
    assert items > 400
    assert value >= FLOORS[code]
