"""CorpusReport: what was read, what each filter dropped, and what is left."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from x2s.errors import FileFormatError, InputError
from x2s.files import whole

DROPPED = {
    "short_paragraph": "in paragraphs of fewer than {min_sentences_per_paragraph} sentences",
    "no_letter": "without a letter",
    "too_short": "of fewer than {min_tokens} tokens",
    "too_long": "of more than {max_tokens} tokens",
    "duplicate": "equal to another",
    "not_sampled": "beyond max_sentences",
}
"""Why sentences are dropped, in the order in which the filters apply."""

_REMEDIES = {
    "short_paragraph": "lower min_sentences_per_paragraph (1 for text with one sentence per line)",
    "no_letter": "check that the text is prose",
    "too_short": "lower min_tokens",
    "too_long": "raise max_tokens, or try another segmenter",
}


class CorpusReport(BaseModel):
    """How one language's corpus came about. All sentences read are either kept or counted in `dropped`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: str
    source: str
    revision: str
    licence: str
    tools: dict[str, str] = Field(description="segmenter and tokenizer")
    options: dict[str, int | bool | str] = Field(description="Everything else that the result depends on.")
    seed: int
    left_out: dict[str, int] = Field(description="Paragraphs that the source itself left out, by reason.")
    paragraphs_read: int
    paragraphs_passed_over: int = Field(
        description="Of those read, how many were not cut into sentences because the sample no longer needed them."
    )
    sentences_read: int
    dropped: dict[str, int] = Field(description="Sentences by the first filter that dropped them.")
    paragraphs: int = Field(description="Paragraphs with a sentence kept.")
    sentences: int
    tokens: int
    distinct_words: int
    vocabulary_size: int
    vocabulary_coverage: float = Field(ge=0, le=1, description="Share of the tokens that are in the vocabulary.")

    def save(self, path: str | Path) -> None:
        """Write as JSON."""
        with whole(path) as beside:
            beside.write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote.

        Raises:
            InputError: There is none.
            FileFormatError: The file is not a corpus report.
        """
        try:
            return cls.model_validate_json(Path(path).read_bytes())
        except FileNotFoundError:
            raise InputError(f"{path}: no corpus report there. Build the corpus first with 'x2s corpus'.") from None
        except ValidationError as error:
            raise FileFormatError(path, None, f"expected a corpus report: {error.errors()[0]['msg']}") from error


def check_sentences(
    source: str, paragraphs: int, sentences: int, dropped: dict[str, int], options: dict[str, int | bool | str]
) -> None:
    """Make sure that something is left.

    Raises:
        InputError: Nothing was read or all was dropped; says by which filter and which option to relax.
    """
    if not paragraphs:
        raise InputError(f"{source}: the corpus is empty, no paragraph was read. Check that it holds text.")
    if sentences > sum(dropped.values()):
        return
    lines = [f"  {count:>9} {DROPPED[reason].format_map(options)}" for reason, count in dropped.items() if count]
    worst = sorted((reason for reason in dropped if dropped[reason] and reason in _REMEDIES), key=lambda r: -dropped[r])
    remedy = "; or ".join(_REMEDIES[reason] for reason in worst) or "check that the text is prose"
    raise InputError(
        f"{source}: no sentence is left of {sentences} in {paragraphs} paragraphs. Dropped were sentences\n"
        + "\n".join(lines)
        + f"\nTo keep some: {remedy}."
    )


def check_vocabulary(source: str, sentences: int, counts: dict[str, int], min_count: int) -> None:
    """Make sure that some word is frequent enough.

    Raises:
        InputError: The vocabulary would be empty.
    """
    most, word = max(((count, word) for word, count in counts.items()), default=(0, ""))
    if most < min_count:
        plural = "sentence" if sentences == 1 else "sentences"
        raise InputError(
            f"{source}: the vocabulary is empty. {sentences} {plural} with {len(counts)} distinct words are left after "
            f"the filters, and the most frequent word, {word!r}, occurs {most} times: below min_count={min_count}. "
            "Give more text, or lower min_count."
        )
