"""Every key of a configuration with its default and meaning, from the documentation under the fields."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from x2s.config.schema import Config


class Key(NamedTuple):
    """One key."""

    name: str
    """Dotted, e.g. corpus.min_tokens."""
    values: str
    default: str
    """As text; "required" if there is none."""
    meaning: str


def explained(prefix: str = "", section: type[BaseModel] = Config) -> Iterator[Key]:
    """All keys below `prefix`, in the order of the schema."""
    yield from _keys(section, "", prefix)


def _keys(section: type[BaseModel], path: str, prefix: str) -> Iterator[Key]:
    for name, field in section.model_fields.items():
        dotted = f"{path}{name}"
        inner = _sections(field)
        plain = re.sub(r"\([^)]*\)", "", dotted)  # Without the kinds of sources, as messages name keys.
        if not (plain.startswith(prefix) or dotted.startswith(prefix) or (inner and prefix.startswith(plain))):
            continue
        if not inner:
            yield Key(dotted, _values(field), _default(field), " ".join((field.description or "").split()))
        for nested in inner:
            kind = nested.model_fields.get("kind")
            mark = f"({get_args(kind.annotation)[0]})" if kind is not None else ""
            yield from _keys(nested, f"{dotted}{mark}.", prefix)


def _sections(field: FieldInfo) -> list[type[BaseModel]]:
    """The sections that a field holds: itself, those of a union, or those of a list."""
    found: list[type[BaseModel]] = []
    waiting: list[Any] = [field.annotation]
    while waiting:
        kind = waiting.pop(0)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found.append(kind)
        else:
            waiting += [part for part in get_args(kind) if part is not Ellipsis]
    return found


def _values(field: FieldInfo) -> str:
    literals = [value for value in get_args(field.annotation) if isinstance(value, str)]
    if literals:
        return " | ".join(literals)
    if not get_args(field.annotation):
        return str(getattr(field.annotation, "__name__", field.annotation))
    if get_origin(field.annotation) in (tuple, list):
        inner = get_args(field.annotation)[0]
        choices = [str(value) for value in get_args(inner) if isinstance(value, str)]
        return f"list of {' | '.join(choices) or getattr(inner, '__name__', 'names')}"
    return str(field.annotation)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
