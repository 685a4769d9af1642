"""Reading a configuration file, and telling all of its mistakes at once."""

import difflib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from x2s.config.schema import Config, FilesSource, HubSource, LexiconConfig, LibreOfficeHelpSource, Section
from x2s.errors import ConfigError


def load_config(path: str | Path) -> Config:
    """Read and validate a configuration file.

    Raises:
        ConfigError: Listing every mistake with its line, dotted path and, for a misspelled name, the nearest one.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such configuration file{_nearby(path)}") from None
    except IsADirectoryError:
        raise ConfigError(f"{path}: expected a YAML file, got a folder") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: expected UTF-8 text: {error.reason} at byte {error.start}") from None
    except PermissionError:
        raise ConfigError(f"{path}: no permission to read it") from None
    try:
        data = yaml.safe_load(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        twice = list(_repeated(node))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(f"{path}{where}: not valid YAML: {getattr(error, 'problem', error)}") from None
    if not isinstance(data, Mapping):
        raise ConfigError(f"{path}: expected 'key: value' lines such as 'output: runs/mine', got {type(data).__name__}")
    found = twice
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        found = sorted({*twice, *_mistakes(error, node)})
    if found:
        listed = "\n".join(f"  {f'line {line}: ' if line else ''}{message}" for line, message in found)
        raise ConfigError(f"{path}: {len(found)} mistake{'s' if len(found) > 1 else ''}\n{listed}")
    return config


def _repeated(node: yaml.Node | None, path: str = "") -> Iterator[tuple[int, str]]:
    """Keys that stand twice in one mapping: YAML would silently keep the last."""
    if isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for key, value in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in seen:
                yield line, f"{path}{name}: given twice, first in line {seen[name]}"
            seen[name] = line
            yield from _repeated(value, f"{path}{name}.")
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated(item, path)


def _nearby(path: Path) -> str:
    folder = path.parent if path.parent.is_dir() else Path("configs")
    names = [str(p) for p in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])]
    return f". There are: {', '.join(names)}" if names else ""


def _mistakes(error: ValidationError, node: yaml.Node | None) -> Iterator[tuple[int, str]]:
    for mistake in error.errors(include_url=False):
        # Names of union branches are no keys of the file.
        keys = [
            key for key in mistake["loc"] if key not in ("files", "hub", "libreoffice-help") or len(mistake["loc"]) == 1
        ]
        dotted = ".".join(str(key) for key in keys)
        line = _line(node, keys)
        if mistake["type"] == "extra_forbidden":
            yield line, f"{dotted}: unknown name{_suggestion(str(keys[-1]), _names(keys[:-1], mistake['loc']))}"
        elif mistake["type"] == "missing":
            yield line, f"{dotted}: missing{_purpose(keys)}"
        elif mistake["type"] == "union_tag_not_found":
            yield line, f"{dotted}.kind: missing (known: {', '.join(_SOURCES)})"
        elif mistake["type"] == "union_tag_invalid":
            kind = mistake["ctx"]["tag"]
            yield line, f"{dotted}.kind: unknown kind {kind!r}{_suggestion(kind, list(_SOURCES))}"
        else:
            messages = mistake["msg"].removeprefix("Value error, ").split("\n")
            got = "" if isinstance(mistake["input"], (dict, BaseModel)) else f", got {_short(mistake['input'])}"
            for message in messages:
                shown = message[0].lower() + message[1:] if message.startswith("Input") else message
                near = (
                    _suggestion(str(mistake["input"]), _allowed(mistake)) if mistake["type"] == "literal_error" else ""
                )
                tail = got if mistake["type"] != "value_error" else ""
                yield line, f"{dotted + ': ' if dotted else ''}{shown}{tail}{near}"


def _allowed(mistake: Mapping[str, Any]) -> list[str]:
    return re.findall(r"'([^']*)'", mistake.get("ctx", {}).get("expected", ""))


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _suggestion(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f" - did you mean {near[0]}?" if near else f" (known: {', '.join(names)})" if names else ""


_SOURCES: dict[str, type[Section]] = {
    "files": FilesSource,
    "hub": HubSource,
    "libreoffice-help": LibreOfficeHelpSource,
}


def _names(keys: list[Any], location: tuple[Any, ...]) -> list[str]:
    section: Any = Config
    for key in keys:
        if key == "source":
            kind = next((part for part in location if part in _SOURCES), None)
            section = _SOURCES[str(kind)] if kind else None
        elif key == "lexicons":
            section = LexiconConfig
        elif isinstance(key, str) and section is not None:
            section = section.model_fields[key].annotation
    return sorted(section.model_fields) if section is not None else []


def _purpose(keys: list[Any]) -> str:
    examples = {
        "output": " (the folder to write to, e.g. output: runs/mine)",
        "languages": " (e.g. languages: [en, de, sw])",
        "corpus": " (where text comes from, e.g. corpus: {source: {kind: libreoffice-help}})",
        "corpus.source": " (e.g. source: {kind: files, paths: 'texts/{language}/*.txt'})",
    }
    return examples.get(".".join(map(str, keys)), "")


def _line(node: yaml.Node | None, keys: list[Any]) -> int:
    """1-based line of the deepest key that exists in the file; 0 at the top."""
    line = 0
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            found = next((pair for pair in node.value if str(pair[0].value) == str(key)), None)
            if found is None:
                break
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            line = node.start_mark.line + 1
        else:
            break
    return line
