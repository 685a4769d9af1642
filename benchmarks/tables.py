"""Write the tables of docs/experiments.md from the records in docs/scores: `python -m benchmarks.tables`.

A table stands between `<!-- table NAME -->` and `<!-- end -->`; what is between is replaced.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from statistics import mean, stdev

from x2s.scores import ScoreRecord, read_scores

DOCS = Path(__file__).parent.parent / "docs"
_PLACE = re.compile(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def write_tables(docs: Path = DOCS) -> None:
    """Fill in every table."""
    page = docs / "experiments.md"
    text = page.read_text(encoding="utf-8")

    def filled(found: re.Match[str]) -> str:
        begin, name, end = found.groups()
        path = docs / "scores" / f"{name}.jsonl"
        return f"{begin}{markdown(read_scores(path)) if path.exists() else 'No records yet.'}\n{end}"

    page.write_text(_PLACE.sub(filled, text), encoding="utf-8")


def averages(records: Iterable[ScoreRecord], metric: str) -> dict[str, dict[str, list[float]]]:
    """Values by method and language, one per seed."""
    table: dict[str, dict[str, list[float]]] = {}
    for record in records:
        if record.metric == metric:
            table.setdefault(record.method, {}).setdefault(record.languages[0], []).append(record.value)
    return table


def markdown(records: list[ScoreRecord]) -> str:
    """Methods x languages, CSLS precision@1 in percent, mean +- sample deviation over seeds where there are several."""
    table = averages(records, "precision@1/csls")
    languages = list(dict.fromkeys(record.languages[0] for record in records))
    items = {record.languages[0]: record.items for record in records}
    head = "".join(f" {language} ({items[language]}) |" for language in languages)
    lines = [f"| method |{head} mean |", "|---|" + "---:|" * (len(languages) + 1)]
    for method, by_language in table.items():
        seeds = list(zip(*(by_language[language] for language in languages), strict=True))
        cells = [_cell(by_language[language]) for language in languages]
        cells.append(_cell([mean(values) for values in seeds]))
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(values: list[float]) -> str:
    percent = [100 * value for value in values]
    return f"{mean(percent):.1f}" + (f" ± {stdev(percent):.1f}" if len(percent) > 1 else "")


if __name__ == "__main__":
    write_tables()
