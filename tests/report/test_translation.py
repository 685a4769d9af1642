"""Translation tables: grouping, means, marks, and the paper's numbers."""

import pytest

from x2s.report import RunData
from x2s.report.paper import METHODS, compare, published
from x2s.report.translation import BliScores, bli_tables
from x2s.scores import ScoreRecord


def record(method: str, source: str, target: str, value: float, **changes: object) -> ScoreRecord:
    values = {
        "task": "bli",
        "metric": "precision@1/csls",
        "value": value,
        "coverage": 0.5,
        "languages": (source, target),
        "model": "m",
        "method": method,
        "data": f"muse-{source}-{target}",
        "data_revision": "1",
        "items": 10,
    }
    return ScoreRecord.model_validate({**values, **changes})


RUN = RunData(title="t", languages=("en", "de", "fr"), final_method="combined")


def test_directions_into_the_hub_come_first_and_best_is_marked() -> None:
    scores = BliScores(
        [
            record("combined/unaligned", "en", "de", 0.30),
            record("combined/aligned", "en", "de", 0.40),
            record("combined/unaligned", "fr", "en", 0.7001),
            record("combined/aligned", "fr", "en", 0.7002),
            record("combined/unaligned", "de", "en", 0.6),
            record("combined/aligned", "de", "en", 0.5),
        ]
    )
    (table,) = bli_tables(RUN, scores)
    assert table.title == "muse"
    assert [row[1].text for row in table.rows] == ["de → en", "fr → en", "en → de"]
    assert [[cell.best for cell in row[2:4]] for row in table.rows] == [[True, False], [True, True], [False, True]]
    (mean,) = table.footer
    assert [cell.text for cell in mean[:4]] == ["mean of 2", "xx → en", "65.0", "60.0"]


def test_mean_takes_only_directions_that_have_every_score() -> None:
    scores = BliScores(
        [
            record("a/aligned", "de", "en", 0.2),
            record("b/aligned", "de", "en", 0.4),
            record("a/aligned", "fr", "en", 1.0),
        ]
    )
    (table,) = bli_tables(RUN, scores)
    assert [cell.text for cell in table.footer[0][:4]] == ["mean of 1 complete", "xx → en", "20.0", "40.0"]
    assert table.rows[1][3].text == "–"


def test_seeds_are_averaged() -> None:
    scores = BliScores(
        [record("x2static/aligned", "de", "en", value, seed=seed) for seed, value in enumerate((0.2, 0.4))]
    )
    found = scores.get("muse", "x2static", "aligned", "de", "en")
    assert found is not None and found.value == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("muse-de-en", "muse"),
        ("muse.de_en", "muse"),
        ("muse", "muse"),
        ("muse (de → en)", "muse"),
        ("FreeDict deu-eng 1.9, eng-deu 1.8", "FreeDict"),
        ("de-en.5000-6500.txt", "5000-6500.txt"),
        ("de-en", "de-en"),
        ("wonderful de-entry", "wonderful de-entry"),
    ],
)
def test_test_sets_of_one_family_share_a_table(name: str, family: str) -> None:
    assert BliScores([record("a/aligned", "de", "en", 0.5, data=name)]).families == (family,)


def test_other_tasks_and_metrics_are_left_out() -> None:
    assert not BliScores([record("a", "de", "en", 0.5, task="similarity"), record("a", "de", "en", 0.5, metric="x")])


def test_published_means_follow_from_the_published_directions() -> None:
    """Table 1 is the mean of Table 5 over the languages that all five have; two of ten cells are off by up to 0.2."""
    rows = published()["table_5"]["rows"]
    codes = [name[:2] for name in rows["MUSE"] if name.endswith("-en")]
    common = [c for c in codes if all(rows[m].get(n) is not None for m in rows for n in (f"{c}-en", f"en-{c}"))]
    assert len(common) == 17
    for method in METHODS:
        for label, pattern in (("xx-en", "{}-en"), ("en-xx", "en-{}")):
            mean = sum(rows[method][pattern.format(code)] for code in common) / len(common)
            assert mean == pytest.approx(published()["table_1"]["rows"][method][label], abs=0.2)


def test_comparison_shows_shared_languages_only() -> None:
    run = RunData(title="t", languages=("en", "de", "sw"), teacher="T, layer 6")
    comparison = compare(
        run, BliScores([record("combined/selected", code, "en", 0.5, data="freedict") for code in ("de", "sw")])
    )
    assert comparison is not None
    assert [row[1].text for row in comparison.directions.rows] == ["de → en"]
    texts = [cell.text for cell in comparison.directions.rows[0]]
    assert texts == ["German", "de → en", "–", "–", "50.0", "63.3", "69.8", "70.1", "72.7", "77.5"]
    assert any("freedict" in line and "MUSE" in line for line in comparison.differences)


def test_no_comparison_without_shared_languages() -> None:
    assert compare(RUN, BliScores([])) is None
    assert (
        compare(RunData(title="t", languages=("en", "sw")), BliScores([record("a/aligned", "sw", "en", 0.5)])) is None
    )
