"""A folder of word vectors, on disk and on the hub.

model.safetensors holds one tensor "vectors" [n, d] float32; vocabulary.tsv the words in its order, one a line,
with counts behind a tab where they are known; config.json what the rest means; README.md is the model card.
"""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

import x2s
from x2s.errors import FileFormatError, InputError, UnavailableError
from x2s.files import whole

_FORMAT = "x2s-word-vectors"
_VERSION = 1
_FILES = ("model.safetensors", "vocabulary.tsv", "config.json", "README.md")
Parts = tuple[tuple[str, ...], np.ndarray, str | None, np.ndarray | None]


def save(
    folder: str | Path, words: Sequence[str], matrix: np.ndarray, language: str | None, counts: np.ndarray | None
) -> None:
    """Write the four files; see `WordVectors.save`."""
    _check_words(words)
    config = {
        "format": _FORMAT,
        "version": _VERSION,
        "language": language,
        "words": len(words),
        "dimension": int(matrix.shape[1]),
        "counts": counts is not None,
        "x2s_version": x2s.__version__,
    }
    with whole(folder) as beside:
        beside.mkdir(parents=True)
        save_file({"vectors": np.ascontiguousarray(matrix)}, beside / "model.safetensors", {"format": "np"})
        _write_vocabulary(beside / "vocabulary.tsv", words, counts)
        (beside / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        (beside / "README.md").write_text(_card(config), encoding="utf-8")


def _check_words(words: Sequence[str]) -> None:
    for word in words:
        if "\t" in word or "\n" in word:
            raise InputError(f"a word with a tab or a line break cannot be saved: {word!r}; leave it out or replace it")
        try:
            word.encode()
        except UnicodeEncodeError:
            raise InputError(f"a word that is not valid Unicode cannot be saved: {word!r}; leave it out") from None


def _write_vocabulary(path: Path, words: Sequence[str], counts: np.ndarray | None) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        if counts is None:
            file.writelines(f"{word}\n" for word in words)
        else:
            file.writelines(f"{word}\t{count}\n" for word, count in zip(words, counts.tolist(), strict=True))


def _card(config: dict[str, Any]) -> str:
    language = config["language"]
    metadata = f"language: {language}\n" if language else ""
    return f"""---
library_name: x2s
{metadata}tags:
- word-embeddings
- static-word-vectors
- cross-lingual
---
# Static word vectors{f" ({language})" if language else ""}

{config["words"]} words, {config["dimension"]} dimensions, float32, made with x2s {config["x2s_version"]}.

With x2s:

```python
from x2s.vectors import WordVectors

vectors = WordVectors.from_pretrained("FOLDER_OR_REPOSITORY")
vectors["word"]
```

With gensim (`pip install 'x2s[gensim]'`):

```python
vectors.to_keyed_vectors().most_similar("word")
```

Without x2s: `model.safetensors` holds one tensor `vectors`; its rows are the words in `vocabulary.tsv`, one a
line{", each with its corpus count behind a tab" if config["counts"] else ""}.

```python
from gensim.models import KeyedVectors
from safetensors.numpy import load_file

with open("vocabulary.tsv", encoding="utf-8", newline="\\n") as file:
    words = [line.rstrip("\\n").split("\\t")[0] for line in file]
vectors = KeyedVectors({config["dimension"]})
vectors.add_vectors(words, load_file("model.safetensors")["vectors"])
```
"""


def load(folder: str | Path) -> Parts:
    """Read what `save` wrote; see `WordVectors.load`."""
    folder = Path(folder)
    for name in ("config.json", "vocabulary.tsv", "model.safetensors"):
        if not (folder / name).is_file():
            raise InputError(f"{folder}: no word vectors there (no {name}). Give a folder that WordVectors.save wrote.")
    config = _read_config(folder / "config.json")
    try:
        tensors = load_file(folder / "model.safetensors")
    except SafetensorError as error:
        raise FileFormatError(
            folder / "model.safetensors", None, f"expected a safetensors file: {error}. Was it cut short? Get it again."
        ) from error
    expected = (config["words"], config["dimension"])
    matrix = tensors.get("vectors")
    if matrix is None or matrix.shape != expected or matrix.dtype != np.float32:
        found = {name: (str(tensor.dtype), tensor.shape) for name, tensor in tensors.items()}
        raise FileFormatError(
            folder / "model.safetensors",
            None,
            f"expected one float32 tensor 'vectors' of shape {expected} as config.json says, got {found}",
        )
    words, counts = _read_vocabulary(folder / "vocabulary.tsv", config["words"], config["counts"])
    return words, matrix, config["language"], counts


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileFormatError(path, None, f"expected JSON: {error}") from error
    if not isinstance(config, dict) or config.get("format") != _FORMAT or config.get("version") != _VERSION:
        raise FileFormatError(
            path, None, f"expected 'format': '{_FORMAT}' and 'version': {_VERSION}; these are not word vectors of x2s"
        )
    wanted: dict[str, type | tuple[type, ...]] = {
        "words": int,
        "dimension": int,
        "counts": bool,
        "language": (str, type(None)),
    }
    for key, kind in wanted.items():
        if key not in config or not isinstance(config[key], kind):
            raise FileFormatError(path, None, f"expected {key!r} of type {kind}, got {config.get(key)!r}")
    return config


def _read_vocabulary(path: Path, expected: int, has_counts: bool) -> tuple[tuple[str, ...], np.ndarray | None]:
    try:
        # Only \n ends a line: str.splitlines would also cut at U+2028 and U+0085, which words may contain.
        lines = path.read_bytes().decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise FileFormatError(path, None, f"expected UTF-8: {error}") from error
    if lines[-1] != "" or len(lines) - 1 != expected:
        raise FileFormatError(path, None, f"expected {expected} whole lines as config.json says, got {len(lines) - 1}")
    lines.pop()
    if not has_counts:
        return tuple(lines), None
    words, counts = [], np.empty(expected, dtype=np.int64)
    for row, line in enumerate(lines):
        word, tab, count = line.rpartition("\t")
        if not tab or not count.isascii() or not count.isdigit():
            raise FileFormatError(path, row + 1, f"expected 'word<TAB>count', got {line[:80]!r}")
        words.append(word)
        counts[row] = int(count)
    return tuple(words), counts


def of_language(folder: Path, language: str | None) -> Path:
    """The folder itself, or its subfolder for the language.

    Raises:
        InputError: The folder has several languages and none was asked for, or not the one asked for.
    """
    own = folder / "config.json"
    if own.is_file() and (language is None or _read_config(own)["language"] == language):
        return folder
    if language is not None and (folder / language / "config.json").is_file():
        return folder / language
    there = sorted(path.parent.name for path in folder.glob("*/config.json"))
    if own.is_file():
        there.append(str(_read_config(own)["language"]))
    if not there:
        raise InputError(f"{folder}: no word vectors there. Give a folder that WordVectors.save wrote.")
    asked = f"there are none for language {language!r}" if language else "which language?"
    raise InputError(f"{folder}: {asked} Choose language= one of: {', '.join(there)}.")


def download(repository: str, language: str | None, revision: str | None, token: str | None) -> Path:
    """Fetch a repository's files (only those of the language, if given) into the hub's cache."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    names = [*_FILES, *(f"{language or '*'}/{name}" for name in _FILES)]
    try:
        return Path(snapshot_download(repository, revision=revision, token=token, allow_patterns=names))
    except (HFValidationError, RepositoryNotFoundError) as error:
        raise InputError(f"{repository!r} is neither a folder here nor a repository on the hub: {error}") from error
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise UnavailableError(
            f"{repository!r} is no folder here, and the hub did not give it: {error}. Check the name, the revision "
            "and the network, or download it elsewhere and give the folder."
        ) from error


def upload(
    parts: Parts, repository: str, subfolder: str | None, private: bool | None, token: str | None, message: str
) -> str:
    """Save to a temporary folder and upload that in one commit; see `WordVectors.push_to_hub`."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    api = HfApi(token=token)
    with tempfile.TemporaryDirectory() as place:
        save(Path(place) / "vectors", *parts)
        try:
            api.create_repo(repository, private=private, exist_ok=True)
            commit = api.upload_folder(
                repo_id=repository,
                folder_path=Path(place) / "vectors",
                path_in_repo=subfolder,
                commit_message=message,
            )
        except (HfHubHTTPError, OSError) as error:
            raise UnavailableError(
                f"{repository!r}: the hub did not take the upload: {error}. Check `hf auth login` and the network."
            ) from error
    return str(commit.commit_url)
