"""Token and sentence F1 of the offline tools on the Universal Dependencies files in X2S_DATA.

    X2S_DATA=... python -m benchmarks.segmentation [--errors LANGUAGE] [--write]

`--write` renews docs/segmentation.jsonl (the records) and the table in docs/segmentation.md that is made from them.

Gold tokens are the surface tokens of CoNLL-U: a multiword token line (`19-20 im`) counts, its words do not. Spans are
compared over the text without its spaces, so a gold token with a space in it (`10 000`) can be met or missed like any
other. Tokens are scored on the gold sentences. Sentences are scored on the sentences of a paragraph joined by spaces
where the file marks paragraphs, and on the whole file as one paragraph, without any hint, where it does not.
"""

import argparse
import hashlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path

import regex

from benchmarks.verdict import conclude
from x2s.corpus.segmentation import sentence_splitter
from x2s.corpus.tokenisation import word_tokenizer
from x2s.languages import Language, get_language
from x2s.scores import ScoreRecord, read_scores, write_scores

Split = Callable[[str], list[str]]

TREEBANKS = {
    "de": "de_gsd-ud-test",
    "en": "en_ewt-ud-test",
    "eu": "eu_bdt-ud-test",
    "fi": "fi_tdt-ud-test",
    "fr": "fr_gsd-ud-test",
    "tr": "tr_imst-ud-test",
    "zh": "zh_gsd-ud-test",
}
HELD_OUT = "en_ewt-ud-dev"  # not looked at while the rules were written
PACKAGES = {"regex": "regex", "jieba": "jieba", "sentencex": "sentencex"}  # the others are ICU's
REQUIRED_MEAN_TOKEN_F1 = 0.96
DOCS = Path(__file__).parent.parent / "docs"


@dataclass
class GoldSentence:
    """Text, its surface tokens, and whether a paragraph begins here and a space follows."""

    text: str = ""
    tokens: list[str] = field(default_factory=list)
    starts_paragraph: bool = False
    space_after: bool = True


def read_conllu(path: Path) -> Iterator[GoldSentence]:
    """Gold sentences of a CoNLL-U file."""
    sentence, covered_to = GoldSentence(), 0
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(("# newpar", "# newdoc")):
            sentence.starts_paragraph = True
        elif line.startswith("# text = "):
            sentence.text = line.removeprefix("# text = ")
        elif not line.strip():
            if sentence.tokens:
                yield sentence
            sentence, covered_to = GoldSentence(), 0
        elif not line.startswith("#"):
            number, form, *rest = line.split("\t")
            if "." in number:
                continue
            if "-" in number:
                covered_to = int(number.split("-")[1])
            elif int(number) <= covered_to:
                continue
            sentence.tokens.append(form)
            sentence.space_after = "SpaceAfter=No" not in rest[-1]
    if sentence.tokens:
        yield sentence


UNSEEN = regex.compile(r"[\s\p{Cf}\x00-\x1f\x7f]+")


def spans(pieces: Iterable[str], start: int = 0) -> list[tuple[int, int]]:
    """Character spans of the pieces one after the other, spaces and invisible characters not counted."""
    found = []
    for piece in pieces:
        end = start + len(UNSEEN.sub("", piece))
        if end > start:
            found.append((start, end))
        start = end
    return found


def f1(matched: int, predicted: int, gold: int) -> float:
    return 2 * matched / (predicted + gold) if predicted + gold else 0.0


def token_f1(sentences: list[GoldSentence], tokenize: Split, wrong: Counter[str] | None = None) -> tuple[float, int]:
    """F1 and the number of gold tokens; `wrong` collects what was cut otherwise."""
    matched = predicted = gold = 0
    for sentence in sentences:
        pieces = tokenize(sentence.text)
        ours, theirs = set(spans(pieces)), set(spans(sentence.tokens))
        matched, predicted, gold = matched + len(ours & theirs), predicted + len(ours), gold + len(theirs)
        if wrong is not None and ours != theirs:
            flat = UNSEEN.sub("", sentence.text)
            missed = " ".join(flat[a:b] for a, b in sorted(theirs - ours))
            made = " ".join(flat[a:b] for a, b in sorted(ours - theirs))
            wrong[f"gold {missed!r:50} ours {made!r}"] += 1
    return f1(matched, predicted, gold), gold


def paragraphs(sentences: list[GoldSentence]) -> Iterator[list[GoldSentence]]:
    current: list[GoldSentence] = []
    for sentence in sentences:
        if sentence.starts_paragraph and current:
            yield current
            current = []
        current.append(sentence)
    if current:
        yield current


def sentence_f1(sentences: list[GoldSentence], split: Split, wrong: list[str] | None = None) -> tuple[float, int]:
    """F1 and the number of gold sentences."""
    matched = predicted = gold = 0
    for paragraph in paragraphs(sentences):
        joined = "".join(sentence.text + (" " if sentence.space_after else "") for sentence in paragraph)
        pieces = split(joined)
        ours, theirs = set(spans(pieces)), set(spans(sentence.text for sentence in paragraph))
        matched, predicted, gold = matched + len(ours & theirs), predicted + len(ours), gold + len(theirs)
        if wrong is not None:
            ends, gold_ends = {end for _, end in ours}, {end for _, end in theirs}
            flat = UNSEEN.sub("", joined)
            wrong += [f"cut    {flat[max(e - 30, 0) : e]} | {flat[e : e + 20]}" for e in sorted(ends - gold_ends)]
            wrong += [f"missed {flat[max(e - 30, 0) : e]} | {flat[e : e + 20]}" for e in sorted(gold_ends - ends)]
    return f1(matched, predicted, gold), gold


def plain_icu(kind: str, locale: str, text: str) -> list[str]:
    """ICU as it is, for comparison."""
    from icu4py import breakers

    pieces = getattr(breakers, kind)(" ".join(text.split()), locale)
    return [piece.strip() for piece in pieces if piece.strip()]


def token_tools(language: Language) -> dict[str, Split]:
    tools = [language.tokenizer, *(tool for tool in ("icu", "regex") if tool != language.tokenizer)]
    found: dict[str, Split] = {tool: word_tokenizer(language, tool) for tool in tools}
    if language.code == "zh":
        found["jieba"] = word_tokenizer(language, "jieba")
    found["ICU without rules"] = partial(plain_icu, "WordBreaker", language.code)
    return found


def sentence_tools(language: Language) -> dict[str, Split]:
    tools = [language.segmenter, *(tool for tool in ("icu", "regex", "sentencex") if tool != language.segmenter)]
    found: dict[str, Split] = {tool: sentence_splitter(language, tool) for tool in tools}
    found["ICU without rules"] = partial(plain_icu, "SentenceBreaker", language.code)
    found["ICU with CLDR suppressions"] = partial(plain_icu, "SentenceBreaker", f"{language.code}@ss=standard")
    return found


def measure(folder: Path, treebanks: Iterable[str] = (*TREEBANKS.values(), HELD_OUT)) -> Iterator[ScoreRecord]:
    """Records of all tools on the treebanks in `folder` (X2S_DATA/ud); the first tool of a metric is the default."""
    for treebank in treebanks:
        path, code = folder / f"{treebank}.conllu", treebank[:2]
        language = get_language(code)
        sentences = list(read_conllu(path))
        checksum = hashlib.sha256(path.read_bytes()).hexdigest()
        words = "token_f1", token_f1, token_tools(language)
        ends = "sentence_f1", sentence_f1, sentence_tools(language)
        for metric, score, tools in (words, ends):
            for tool, cut in tools.items():
                value, items = score(sentences, cut)
                yield ScoreRecord(
                    task="segmentation",
                    metric=metric,
                    value=value,
                    coverage=1.0,
                    languages=(code,),
                    model=tool,
                    method="default" if tool == next(iter(tools)) else "alternative",
                    data=f"UD 2.5 {treebank}",
                    data_revision=f"sha256:{checksum}",
                    items=items,
                    details={"package": PACKAGES.get(tool, "icu4py"), "version": version(PACKAGES.get(tool, "icu4py"))},
                )


def table(records: list[ScoreRecord], metric: str) -> list[str]:
    """Markdown rows: languages down, tools across, percent."""
    chosen = [record for record in records if record.metric == metric]
    tools = list(dict.fromkeys(record.model for record in chosen if record.method == "alternative"))
    lines = [f"| treebank | items | default | {' | '.join(tools)} |", "|---|---:|---|" + "---:|" * len(tools)]
    for data in dict.fromkeys(record.data for record in chosen):
        mine = {record.model: record for record in chosen if record.data == data}
        default = next(record for record in mine.values() if record.method == "default")
        cells = [f"{100 * mine[tool].value:.1f}" if tool in mine else "" for tool in tools]
        cells = ["" if tool == default.model else cell for tool, cell in zip(tools, cells, strict=True)]
        name = data.removeprefix("UD 2.5 ")
        best = f"{default.model} **{100 * default.value:.1f}**"
        lines.append(f"| {name} | {default.items:,} | {best} | {' | '.join(cells)} |")
    return lines


def write(records: list[ScoreRecord]) -> None:
    """Renew the records and everything between the markers of docs/segmentation.md."""
    write_scores(DOCS / "segmentation.jsonl", records)
    page = DOCS / "segmentation.md"
    before, rest = page.read_text(encoding="utf-8").split("<!-- generated -->\n")[:2]
    after = rest.split("<!-- /generated -->\n")[1]
    records = read_scores(DOCS / "segmentation.jsonl")
    sources = {record.data: record.data_revision for record in records}
    made = [
        "### Tokens, F1",
        "",
        *table(records, "token_f1"),
        "",
        "### Sentences, F1",
        "",
        *table(records, "sentence_f1"),
    ]
    tools = {record.details["package"]: record.details["version"] for record in records}
    made += ["", "Tools: " + ", ".join(f"{name} {number}" for name, number in tools.items()) + ".  "]
    made += [
        "Files: "
        + "; ".join(f"{name.removeprefix('UD 2.5 ')} `{revision[:19]}`" for name, revision in sources.items())
        + ".",
        "",
    ]
    page.write_text(
        f"{before}<!-- generated -->\n" + "\n".join(made) + f"<!-- /generated -->\n{after}", encoding="utf-8"
    )


def show_errors(folder: Path, code: str) -> None:
    """The commonest differences from the gold standard, to read."""
    language = get_language(code)
    sentences = list(read_conllu(folder / f"{TREEBANKS.get(code, code)}.conllu"))
    wrong: Counter[str] = Counter()
    print(token_f1(sentences, word_tokenizer(language), wrong))
    print("\n".join(f"{count:4} {case}" for case, count in wrong.most_common(60)))
    ends: list[str] = []
    print(sentence_f1(sentences, sentence_splitter(language), ends))
    print("\n".join(ends))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--errors", metavar="LANGUAGE", help="show what is cut differently in one language")
    parser.add_argument("--write", action="store_true", help="renew docs/segmentation.md and its records")
    options = parser.parse_args()
    if "X2S_DATA" not in os.environ:
        sys.exit("segmentation: set X2S_DATA to the folder of real test sets")
    folder = Path(os.environ["X2S_DATA"]) / "ud"
    if options.errors:
        show_errors(folder, options.errors)
        return
    records = []
    for record in measure(folder):
        records.append(record)
        print(f"{record.data:23} {record.metric:12} {record.model:28} {100 * record.value:6.2f}  {record.method}")
    if options.write:
        write(records)
    tokens = [record.value for record in records if record.metric == "token_f1" and record.method == "default"]
    conclude("segmentation", sum(tokens) / len(tokens), REQUIRED_MEAN_TOKEN_F1)


if __name__ == "__main__":
    main()
