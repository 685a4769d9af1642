"""The page in headless Chromium: it opens from disk, finds planted neighbours, says nothing on the console."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from x2s.report import RunData, write_report
from x2s.scores import ScoreRecord
from x2s.vectors import WordVectors

pytestmark = pytest.mark.browser

CODES = ("en", "de", "ar", "zh")
PLANTED = {"en": "house", "de": "häuser", "ar": "بيت", "zh": "房子"}
HOSTILE = '</script><script>document.title="broken"</script>'


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        if os.environ.get("X2S_REQUIRE_BROWSER") == "1":
            pytest.fail("X2S_REQUIRE_BROWSER=1, but there is no chromium, chromium-browser or google-chrome")
        pytest.skip("no Chromium: apt install chromium")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four languages of 200 words: concepts shared, the planted words tight together, one spelling in two languages."""
    rng = np.random.default_rng(7)
    centres = rng.standard_normal((200, 40))
    vectors = {}
    for code in CODES:
        words = [f"{code}wort{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(200)]
        words[5], words[6], words[7] = PLANTED[code], "gift" if code in ("en", "de") else words[6], HOSTILE + code
        matrix = centres + 0.3 * rng.standard_normal(centres.shape)
        vectors[code] = WordVectors(tuple(words), matrix.astype(np.float32), code)
    scores = [
        ScoreRecord(
            task="bli",
            metric="precision@1/csls",
            value=value,
            coverage=0.9,
            languages=(code, "en"),
            model="m",
            method=f"combined/{variant}",
            data="muse",
            data_revision="1",
            items=100,
        )
        for code, base in zip(CODES[1:], (0.61, 0.43, 0.52), strict=True)
        for variant, value in (("unaligned", base), ("aligned", base + 0.1))
    ]
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(RunData("Browser test", languages=CODES, vectors=vectors, scores=scores), path)
    return path


@pytest.fixture
def page(browser: Any, report: Path) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1366, "height": 900})
    said: list[str] = []
    asked: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(report.as_uri())
    yield opened
    assert said == []
    assert {url.partition("#")[0] for url in asked if not url.startswith("data:")} == {report.as_uri()}
    assert opened.title() == "Browser test"
    opened.close()


def first(page: Any, code: str) -> str:
    return str(page.locator(f"#neighbours [data-language={code}] li button").first.inner_text())


def test_typed_word_shows_its_planted_neighbours(page: Any) -> None:
    page.fill("#word", "house")
    page.press("#word", "Enter")
    assert "English word number 6" in page.inner_text("#status")
    assert [first(page, code) for code in ("de", "ar", "zh")] == ["häuser", "بيت", "房子"]
    assert page.locator("#neighbours [data-language=en] li button", has_text="house").count() == 0
    assert page.locator("#neighbours [data-language=ar] li button").first.get_attribute("dir") == "auto"


def test_suggestions_by_keyboard_ignore_case_and_accents(page: Any) -> None:
    page.fill("#word", "")
    page.type("#word", "HAUS"[:2])
    assert page.locator("#suggestions li").first.inner_text().split() == ["häuser", "German"]
    assert page.get_attribute("#word", "aria-expanded") == "true"
    page.press("#word", "ArrowDown")
    assert page.get_attribute("#word", "aria-activedescendant") == "option-0"
    page.press("#word", "Enter")
    assert page.input_value("#word") == "häuser"
    assert first(page, "en") == "house"
    assert page.locator("#suggestions").is_hidden()


def test_one_spelling_in_two_languages_offers_both(page: Any) -> None:
    page.fill("#word", "gift")
    page.press("#word", "Enter")
    assert "English word" in page.inner_text("#status")
    page.click("#status button:has-text('German')")
    assert "German word" in page.inner_text("#status")


def test_unknown_word_offers_near_ones(page: Any) -> None:
    page.fill("#word", "househusband")
    page.press("#word", "Enter")
    assert "not among" in page.inner_text("#status")
    page.click("#status button:has-text('house')")
    assert first(page, "zh") == "房子"


def test_hostile_word_is_only_a_word(page: Any) -> None:
    page.fill("#word", HOSTILE + "de")
    page.press("#word", "Enter")
    assert first(page, "en") == HOSTILE + "en"


def test_ranking_by_cosine_and_link_to_a_word(page: Any, report: Path) -> None:
    page.select_option("#ranking", "cosine")
    numbers = [float(text) for text in page.locator("[data-language=de] .number").all_inner_texts()]
    assert numbers == sorted(numbers, reverse=True)
    page.goto(report.as_uri() + "#word=de:h%C3%A4user")
    page.reload()
    assert "häuser" in page.inner_text("#status")


def test_table_sorts_both_ways(page: Any) -> None:
    table = page.locator("#translation table.sortable").first
    heading = table.locator("th button", has_text="aligned").last
    column = table.locator("tbody tr td:nth-child(4)")
    heading.click()
    assert column.all_inner_texts() == ["71.0", "62.0", "53.0"]
    heading.click()
    assert column.all_inner_texts() == ["53.0", "62.0", "71.0"]


def test_fits_the_screen_and_labels_do_not_overlap(page: Any) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= 1366
    boxes = page.evaluate(
        "[...document.querySelectorAll('svg.map .word text')].map(e => e.getBoundingClientRect().toJSON())"
    )
    assert len(boxes) > 40
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            apart = a["left"] >= b["right"] or b["left"] >= a["right"]
            # Boxes reach from the highest accent to the lowest descender: a few px of that may touch.
            assert apart or a["top"] >= b["bottom"] - 4 or b["top"] >= a["bottom"] - 4


def test_narrow_screen_and_print(page: Any) -> None:
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.emulate_media(media="print")
    assert page.locator("#search").is_hidden()
    assert page.locator("#translation").is_visible()
