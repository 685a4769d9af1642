"""UDPipe 1 models as sentence splitter and tokenizer: the paper's tools where a model file is at hand."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from x2s.errors import FileFormatError, InputError, MissingExtraError


@dataclass(frozen=True, slots=True)
class UDPipeWords:
    """Words of a sentence as the model cuts its surface: `im` stays one token, though UD reads it as `in dem`.

    Raises:
        InputError: No file at `model`.
        FileFormatError: `model` is not a UDPipe model with a tokenizer.
        MissingExtraError: `ufal.udpipe` is not installed.
    """

    model: Path

    def __post_init__(self) -> None:
        _load(self.model)

    def __call__(self, text: str) -> list[str]:
        """Tokens of a sentence."""
        tokens: list[str] = []
        for sentence in _sentences(self.model, text, "presegmented"):
            tokens.extend(" ".join(form.split()) for form in _surface(sentence))
        return [token for token in tokens if token]


@dataclass(frozen=True, slots=True)
class UDPipeSentences:
    """Sentences as the model's tokenizer cuts them. Raises as `UDPipeWords` does."""

    model: Path

    def __post_init__(self) -> None:
        _load(self.model)

    def __call__(self, text: str) -> list[str]:
        """Sentences of a paragraph."""
        found = (" ".join(sentence.getText().split()) for sentence in _sentences(self.model, text, ""))
        return [sentence for sentence in found if sentence]


@cache
def _load(path: Path) -> Any:
    try:
        from ufal.udpipe import Model
    except ImportError as error:
        raise MissingExtraError(
            "the tool 'udpipe' needs the package ufal.udpipe: pip install 'x2s[udpipe]', or leave the tool out "
            "to use the default, which needs no model"
        ) from error
    if not path.is_file():
        raise InputError(
            f"{path}: expected a UDPipe 1 model file (such as german-gsd-ud-2.5-191206.udpipe) after 'udpipe:', "
            "found no file. Models: https://lindat.mff.cuni.cz/repository/xmlui/handle/11234/1-3131"
        )
    model = Model.load(str(path))
    if model is None or model.newTokenizer("") is None:
        raise FileFormatError(path, None, "expected a UDPipe 1 model with a tokenizer, found something else")
    return model


def _sentences(path: Path, text: str, options: str) -> Iterator[Any]:
    from ufal.udpipe import ProcessingError, Sentence

    reader = _load(path).newTokenizer(options)
    reader.setText(" ".join(text.split()))
    error = ProcessingError()
    sentence = Sentence()
    while reader.nextSentence(sentence, error):
        yield sentence
        sentence = Sentence()
    if error.occurred():
        raise InputError(f"{path}: UDPipe could not cut {text[:60]!r}: {error.message}")


def _surface(sentence: Any) -> Iterator[str]:
    """Forms of the tokens: a multiword token instead of its words, and without the artificial root."""
    multiword = {token.idFirst: token for token in sentence.multiwordTokens}
    covered_to = 0
    for word in list(sentence.words)[1:]:
        if word.id <= covered_to:
            continue
        if word.id in multiword:
            covered_to = multiword[word.id].idLast
            yield multiword[word.id].form
        else:
            yield word.form
