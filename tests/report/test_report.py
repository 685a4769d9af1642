"""The page from whole, partial and hostile runs, without a browser."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from x2s.languages import LANGUAGES
from x2s.report import CorpusSummary, RunData, SelectionSummary, StageRun, write_report
from x2s.report.page import render
from x2s.scores import ScoreRecord
from x2s.vectors import WordVectors

HOSTILE = ("</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"&quot;'", "<!--", "\u2028", "]]>")


def score(method: str, source: str, target: str, value: float, metric: str = "precision@1/csls") -> ScoreRecord:
    return ScoreRecord(
        task="bli",
        metric=metric,
        value=value,
        coverage=0.8,
        languages=(source, target),
        model="a teacher",
        method=method,
        data=f"muse {source}-{target}",
        data_revision="1",
        items=1500,
        details={"accuracy_oov_wrong": 0.8 * value, "source_words": 1875},
    )


def vectors(code: str, words: tuple[str, ...], seed: int = 0) -> WordVectors:
    rng = np.random.default_rng(seed)
    return WordVectors(words, rng.standard_normal((len(words), 24)).astype(np.float32), code)


def whole_run(**changes: object) -> RunData:
    codes = ("en", "de", "fr")
    values: dict[str, object] = {
        "title": "A run",
        "config_yaml": "title: A run\n",
        "version": "0.1.0",
        "languages": codes,
        "teacher": "a teacher, layer 6",
        "stages": [StageRun("corpus", code, 65.0, 1_500_000_000, "2026-01-01T10:00:00+00:00") for code in codes],
        "corpora": {
            code: CorpusSummary(1000, 12_345, 900, 0.95, 2000, {}, 1700, {"too_short": 700}, "files", "1", "CC0")
            for code in codes
        },
        "scores": [
            score(f"combined/{variant}", *direction, value)
            for direction in (("de", "en"), ("fr", "en"), ("en", "de"), ("en", "fr"))
            for variant, value in (("unaligned", 0.5), ("aligned", 0.625), ("selected", 0.625))
        ],
        "selections": [SelectionSummary("de", "combined", "aligned", {"gain": 0.0625, "kept": True, "words": 1234})],
        "vectors": {code: vectors(code, tuple(f"{code}word{chr(97 + i)}" for i in range(20)), 0) for code in codes},
    }
    return RunData(**{**values, **changes})  # type: ignore[arg-type]


class Strict(HTMLParser):
    """Counts elements and checks that all that open also close, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attributes)))
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(page: str) -> Strict:
    parser = Strict()
    parser.feed(page)
    assert parser.open == []
    return parser


def test_whole_run_says_its_numbers() -> None:
    page = render(whole_run())
    parsed(page)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page))
    assert "comes first for 62.5% of the test words, averaged over 2 languages (+12.5 points against the 50.0%" in text
    assert "on the 80% of the test words" in text
    for expected in ("German", "3 min 15 s", "12,345", "700", "1.5 GB", "Not a comparison of methods"):
        assert expected in text


def test_page_asks_the_network_for_nothing() -> None:
    for tag, attributes in parsed(render(whole_run())).seen:
        for name in ("src", "href", "action", "poster", "data"):
            target = attributes.get(name)
            # A link that the reader may click is no request of the page.
            assert target is None or target.startswith(("#", "data:")) or (tag == "a" and name == "href")
    assert "@import" not in render(whole_run()) and "url(" not in render(whole_run())


@pytest.mark.parametrize(
    "missing",
    [
        {"scores": ()},
        {"vectors": {}},
        {"corpora": {}},
        {"stages": ()},
        {"selections": ()},
        {"scores": (), "vectors": {}, "corpora": {}, "stages": (), "selections": (), "languages": ()},
        {"config_yaml": "", "version": "", "teacher": ""},
    ],
)
def test_missing_parts_are_said_not_shown(missing: dict[str, object]) -> None:
    page = render(whole_run(**missing))
    parsed(page)
    assert page.count('class="missing"') == len({"scores", "corpora", "stages", "selections"} & missing.keys())


def test_one_language_one_word() -> None:
    parsed(render(whole_run(languages=("en",), vectors={"en": vectors("en", ("alone",))}, scores=())))


def test_empty_vectors() -> None:
    parsed(render(whole_run(vectors={"en": vectors("en", ())})))


def test_hostile_words_stay_words() -> None:
    run = whole_run(
        title=HOSTILE[0],
        config_yaml=HOSTILE[0],
        teacher=HOSTILE[1],
        vectors={"en": vectors("en", HOSTILE), "de": vectors("de", HOSTILE, 1)},
        map_pairs={"de": [(word, word) for word in HOSTILE]},
        selections=[SelectionSummary("de", HOSTILE[0], HOSTILE[1], {HOSTILE[0]: HOSTILE[1]})],
        corpora={"de": CorpusSummary(1, 1, 1, 1.0, 1, {HOSTILE[0]: 1}, 1, {HOSTILE[1]: 1}, HOSTILE[0])},
        stages=[StageRun(HOSTILE[0], "de", 1.0)],
        scores=[score(f"{HOSTILE[0]}/{HOSTILE[1]}", "de", "en", 0.5)],
    )
    page = render(run)
    seen = parsed(page).seen
    assert sum(tag == "script" for tag, _ in seen) == 2
    assert not any(tag == "img" or "onerror" in attributes for tag, attributes in seen)
    data = json.loads(re.search(r'id="search-data">(.*?)</script>', page, re.S)[1])  # type: ignore[index]
    assert tuple(data["languages"][0]["words"]) == HOSTILE


def test_page_is_written_whole_and_twice_the_same(tmp_path: Path) -> None:
    write_report(whole_run(), tmp_path / "a" / "report.html")
    write_report(whole_run(), tmp_path / "b.html")
    assert (tmp_path / "a" / "report.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["report.html"]


def test_hidden_script_has_the_hash_that_the_policy_allows() -> None:
    import base64
    import hashlib

    page = render(whole_run())
    script = re.search(r"<script>(.*)</script>", page, re.S)[1]  # type: ignore[index]
    assert f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}" in page


def test_forty_languages_share_the_page() -> None:
    many = {code: vectors(code, tuple(f"{code}word{chr(97 + row)}" for row in range(20))) for code in LANGUAGES}
    page = render(whole_run(languages=tuple(many), vectors=many, scores=()))
    data = json.loads(re.search(r'id="search-data">(.*?)</script>', page, re.S)[1])  # type: ignore[index]
    assert len(data["languages"]) == 40
    assert page.count('class="key"') == 8
