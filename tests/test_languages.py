import pickle
import re

import pytest

from x2s.errors import InputError
from x2s.languages import LANGUAGES, get_language

PAPER = (
    "af ar bg bn de el en es et eu fa fi fr he hi hu id it ja jv ka kk ko ml mr ms my nl pt ru sw ta te th tl tr ur "
    "vi yo zh"
)


def test_the_forty_languages_of_the_paper() -> None:
    assert " ".join(LANGUAGES) == PAPER
    assert len(LANGUAGES) == 40


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_field_is_filled_and_well_formed(code: str) -> None:
    language = LANGUAGES[code]
    assert language.code == code
    assert language.name
    assert language.family
    assert re.fullmatch(r"[A-Z][a-z]{3}", language.script)
    assert re.fullmatch(r"[a-z]{3}", language.iso639_3)
    assert language.segmenter in {"icu", "regex", "kiwi", "crfcut", "sentencex"}
    assert language.tokenizer in {"icu", "regex", "fugashi"}
    assert language.wikipedia == f"20231101.{code}"
    assert code == "en" or re.fullmatch(r"[a-z]{3}_[A-Z][a-z]{3}", language.fineweb2)


def test_values_that_do_not_follow_a_rule() -> None:
    assert LANGUAGES["et"].fineweb2 == "ekk_Latn"
    assert LANGUAGES["tl"].fineweb2 == "fil_Latn"
    assert LANGUAGES["zh"].fineweb2 == "cmn_Hani"
    assert LANGUAGES["zh"].cc100 == "zh-Hans"
    assert LANGUAGES["en"].fineweb_dataset == "HuggingFaceFW/fineweb"
    assert LANGUAGES["de"].fineweb_dataset == "HuggingFaceFW/fineweb-2"
    assert LANGUAGES["zh"].paper_tokenizer == "jieba"
    assert LANGUAGES["ja"].paper_tokenizer == "fugashi"
    assert (LANGUAGES["de"].paper_segmenter, LANGUAGES["de"].paper_tokenizer) == ("udpipe", "udpipe")
    assert (LANGUAGES["sw"].paper_segmenter, LANGUAGES["sw"].paper_tokenizer) == ("icu", "icu")


def test_three_letter_and_withdrawn_codes_name_the_same_language() -> None:
    for written, code in {
        "deu": "de",
        "DE": "de",
        "zho": "zh",
        "cmn": "zh",
        "iw": "he",
        "fil": "tl",
        "swa": "sw",
    }.items():
        assert get_language(written) is LANGUAGES[code]


def test_other_languages_get_icu() -> None:
    czech = get_language("cs")
    assert (czech.name, czech.script, czech.iso639_3) == ("Czech", "Latn", "ces")
    assert (czech.segmenter, czech.tokenizer) == ("icu", "icu")
    assert get_language("ces") == czech
    assert get_language("ceb").name == "Cebuano"
    assert get_language("uk").fineweb2 == "ukr_Cyrl"


@pytest.mark.parametrize(
    ("written", "suggestion"),
    [
        ("german", "de (German)"),
        ("Germna", "de (German)"),
        ("en-US", "en (English)"),
        ("zh_Hans", "zh (Chinese)"),
        ("Klingon", "tlh (Klingon)"),
        ("swahilli", "sw (Swahili)"),
    ],
)
def test_near_misses_are_suggested(written: str, suggestion: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"Did you mean {suggestion}?")):
        get_language(written)


@pytest.mark.parametrize("written", ["", "xx", "q", "12", "ααα"])
def test_nonsense_is_an_error_that_lists_the_languages(written: str) -> None:
    with pytest.raises(InputError, match=r"expected an ISO 639 code.*af ar bg"):
        get_language(written)


def test_languages_travel_to_worker_processes() -> None:
    assert pickle.loads(pickle.dumps(get_language("th"))) == LANGUAGES["th"]
