"""The languages: what each is called, how its text is cut, and under which names the hub keeps it.

`LANGUAGES` holds the 40 languages of the paper. Any other ISO 639 code works too, with ICU for sentences and words.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from x2s.errors import InputError

_WIKIPEDIA_SNAPSHOT = "20231101"


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    `segmenter` and `tokenizer` name the best offline tools (docs/segmentation.md has the measurements);
    `paper_segmenter` and `paper_tokenizer` name those of the paper, where `udpipe` stands for `udpipe:MODEL` with the
    path of a model file.
    """

    code: str
    """ISO 639-1 code (639-3 where there is none), as XLM-R, Wikipedia and MUSE write it."""
    name: str
    family: str
    """Top-level family or branch; empty outside the 40."""
    script: str
    """ISO 15924 code of the usual script, e.g. `Latn`."""
    iso639_3: str
    """As the Tatoeba test sets name it: macrolanguages `ara` and `est`, but `cmn`, `pes`, `swh`, `zsm`."""
    segmenter: str
    tokenizer: str
    paper_segmenter: str
    paper_tokenizer: str
    wikipedia: str
    """Configuration of `wikimedia/wikipedia`."""
    fineweb2: str
    """Configuration of `fineweb_dataset`."""
    cc100: str
    """File of CC100: `https://data.statmt.org/cc-100/{cc100}.txt.xz`."""

    @property
    def fineweb_dataset(self) -> str:
        """The hub dataset that `fineweb2` belongs to: English lives in FineWeb, all others in FineWeb 2."""
        return "HuggingFaceFW/fineweb" if self.code == "en" else "HuggingFaceFW/fineweb-2"


# code, name, family, script, ISO 639-3, FineWeb 2 configuration. English is in FineWeb, whose whole has too many files
# to list for one stream: its random sample of 10 billion tokens instead.
_TABLE = """
af	Afrikaans	Germanic	Latn	afr	afr_Latn
ar	Arabic	Semitic	Arab	ara	arb_Arab
bg	Bulgarian	Slavic	Cyrl	bul	bul_Cyrl
bn	Bengali	Indo-Aryan	Beng	ben	ben_Beng
de	German	Germanic	Latn	deu	deu_Latn
el	Greek	Hellenic	Grek	ell	ell_Grek
en	English	Germanic	Latn	eng	sample-10BT
es	Spanish	Romance	Latn	spa	spa_Latn
et	Estonian	Uralic	Latn	est	ekk_Latn
eu	Basque	isolate	Latn	eus	eus_Latn
fa	Persian	Iranian	Arab	pes	fas_Arab
fi	Finnish	Uralic	Latn	fin	fin_Latn
fr	French	Romance	Latn	fra	fra_Latn
he	Hebrew	Semitic	Hebr	heb	heb_Hebr
hi	Hindi	Indo-Aryan	Deva	hin	hin_Deva
hu	Hungarian	Uralic	Latn	hun	hun_Latn
id	Indonesian	Austronesian	Latn	ind	ind_Latn
it	Italian	Romance	Latn	ita	ita_Latn
ja	Japanese	Japonic	Jpan	jpn	jpn_Jpan
jv	Javanese	Austronesian	Latn	jav	jav_Latn
ka	Georgian	Kartvelian	Geor	kat	kat_Geor
kk	Kazakh	Turkic	Cyrl	kaz	kaz_Cyrl
ko	Korean	Koreanic	Hang	kor	kor_Hang
ml	Malayalam	Dravidian	Mlym	mal	mal_Mlym
mr	Marathi	Indo-Aryan	Deva	mar	mar_Deva
ms	Malay	Austronesian	Latn	zsm	zsm_Latn
my	Burmese	Sino-Tibetan	Mymr	mya	mya_Mymr
nl	Dutch	Germanic	Latn	nld	nld_Latn
pt	Portuguese	Romance	Latn	por	por_Latn
ru	Russian	Slavic	Cyrl	rus	rus_Cyrl
sw	Swahili	Atlantic-Congo	Latn	swh	swh_Latn
ta	Tamil	Dravidian	Taml	tam	tam_Taml
te	Telugu	Dravidian	Telu	tel	tel_Telu
th	Thai	Kra-Dai	Thai	tha	tha_Thai
tl	Tagalog	Austronesian	Latn	tgl	fil_Latn
tr	Turkish	Turkic	Latn	tur	tur_Latn
ur	Urdu	Indo-Aryan	Arab	urd	urd_Arab
vi	Vietnamese	Austroasiatic	Latn	vie	vie_Latn
yo	Yoruba	Atlantic-Congo	Latn	yor	yor_Latn
zh	Chinese	Sino-Tibetan	Hans	cmn	cmn_Hani
"""
_SEGMENTERS = {"ko": "kiwi", "ta": "sentencex", "th": "crfcut", "vi": "regex"}
_TOKENIZERS = {"ja": "fugashi", "ko": "regex"}
# The paper has UDPipe models for all but these.
_PAPER_ICU = frozenset({"bn", "ja", "jv", "ka", "kk", "ml", "ms", "my", "sw", "th", "tl", "yo", "zh"})
_PAPER_TOKENIZERS = {"ja": "fugashi", "zh": "jieba"}
_CC100 = {"zh": "zh-Hans"}

# Other codes in use for the same languages: withdrawn ones, and the macrolanguage or the individual language.
_SAME = {
    "iw": "he", "in": "id", "jw": "jv", "fil": "tl", "zho": "zh", "arb": "ar", "ekk": "et", "fas": "fa", "swa": "sw",
    "msa": "ms",
}  # fmt: skip


def _build() -> dict[str, Language]:
    table = {}
    for line in _TABLE.strip().splitlines():
        code, name, family, script, iso639_3, fineweb2 = line.split("\t")
        paper = "icu" if code in _PAPER_ICU else "udpipe"
        table[code] = Language(
            code=code,
            name=name,
            family=family,
            script=script,
            iso639_3=iso639_3,
            segmenter=_SEGMENTERS.get(code, "icu"),
            tokenizer=_TOKENIZERS.get(code, "icu"),
            paper_segmenter=paper,
            paper_tokenizer=_PAPER_TOKENIZERS.get(code, paper),
            wikipedia=f"{_WIKIPEDIA_SNAPSHOT}.{code}",
            fineweb2=fineweb2,
            cc100=_CC100.get(code, code),
        )
    return table


LANGUAGES: dict[str, Language] = _build()
"""The 40 languages of the paper by code."""

_BY_ISO639_3 = {language.iso639_3: language for language in LANGUAGES.values()}


def get_language(code: str) -> Language:
    """The language with this ISO 639-1 or 639-3 code, in any case; outside the 40 with ICU defaults.

    Raises:
        InputError: No such code; the message suggests near ones, also for English names (`german` -> `de`).
    """
    wanted = code.strip().lower()
    wanted = _SAME.get(wanted, wanted)
    if wanted in LANGUAGES:
        return LANGUAGES[wanted]
    if wanted in _BY_ISO639_3:
        return _BY_ISO639_3[wanted]
    other = _others().get(wanted)
    if other is None:
        raise InputError(_unknown(code))
    return other


@cache
def _others() -> dict[str, Language]:
    """All other languages of ISO 639, by their two-letter and three-letter codes."""
    found: dict[str, Language] = {}
    resource = files("x2s").joinpath("iso639.tsv")
    for line in resource.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        iso639_3, iso639_1, script, name = line.split("\t")
        code = iso639_1 or iso639_3
        if code in LANGUAGES or iso639_3 in _BY_ISO639_3 or iso639_3 in _SAME:
            continue
        language = Language(
            code=code,
            name=name,
            family="",
            script=script,
            iso639_3=iso639_3,
            segmenter="icu",
            tokenizer="icu",
            paper_segmenter="icu",
            paper_tokenizer="icu",
            wikipedia=f"{_WIKIPEDIA_SNAPSHOT}.{code}",
            fineweb2=f"{iso639_3}_{script or 'Latn'}",
            cc100=code,
        )
        found[code] = found[iso639_3] = language
    return found


def _unknown(code: str) -> str:
    suggestions = [f"{language.code} ({language.name})" for language in _near(code.strip().lower())]
    hint = f" Did you mean {' or '.join(suggestions)}?" if suggestions else ""
    return (
        f"unknown language {code!r}: expected an ISO 639 code of two or three letters, such as de or ceb.{hint} "
        f"The 40 languages with their own settings: {' '.join(LANGUAGES)}."
    )


def _near(wanted: str, limit: int = 3) -> list[Language]:
    """Languages that may be meant: the code of a tag like `en-US`, an English name, then similar names and codes."""
    others = _others()
    base = wanted.replace("_", "-").split("-")[0]
    names = {language.name.lower(): language for language in [*others.values(), *LANGUAGES.values()]}
    for exact in (LANGUAGES.get(base), names.get(wanted), others.get(base)):
        if exact is not None:
            return [exact]
    ours = [language.name.lower() for language in LANGUAGES.values()]
    near = [names[name] for name in get_close_matches(wanted, ours, n=limit, cutoff=0.7)]
    near = near or [names[name] for name in get_close_matches(wanted, names, n=limit, cutoff=0.8)]
    near += [LANGUAGES[match] for match in get_close_matches(base, LANGUAGES, n=limit, cutoff=0.6)]
    return list(dict.fromkeys(near))[:limit]
