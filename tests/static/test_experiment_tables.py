"""The tables of docs/experiments.md are what the records in docs/scores say, and are made as they claim."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from x2s.scores import ScoreRecord, write_scores

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tables", ROOT / "benchmarks" / "tables.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def record(method: str, language: str, value: float, seed: int | None = None) -> ScoreRecord:
    return ScoreRecord(
        task="bli", metric="precision@1/csls", value=value, coverage=0.5, languages=(language, "en"), model="m",
        method=method, data="d", data_revision="r", seed=seed, items=7,
    )  # fmt: skip


def test_means_and_deviations_are_over_seeds(tables: ModuleType, tmp_path: Path) -> None:
    records = [record("a", "de", 0.5), record("a", "fi", 0.25)]
    records += [
        record("b", language, value, seed)
        for seed, values in enumerate([(0.5, 0.1), (0.6, 0.4)])
        for language, value in zip(("de", "fi"), values, strict=True)
    ]
    (tmp_path / "scores").mkdir()
    write_scores(tmp_path / "scores" / "demo.jsonl", records)
    page = tmp_path / "experiments.md"
    page.write_text("before\n<!-- table demo -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    tables.write_tables(tmp_path)
    assert page.read_text(encoding="utf-8").splitlines() == [
        "before",
        "<!-- table demo -->",
        "| method | de (7) | fi (7) | mean |",
        "|---|---:|---:|---:|",
        "| a | 50.0 | 25.0 | 37.5 |",
        "| b | 55.0 ± 7.1 | 25.0 ± 21.2 | 40.0 ± 14.1 |",
        "<!-- end -->",
        "after",
    ]


def test_the_published_tables_are_up_to_date(tables: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "scores").symlink_to(ROOT / "docs" / "scores")
    published = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    (tmp_path / "experiments.md").write_text(published, encoding="utf-8")
    tables.write_tables(tmp_path)
    assert (tmp_path / "experiments.md").read_text(encoding="utf-8") == published
