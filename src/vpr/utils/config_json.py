"""Configuration dataclasses to plain dictionaries and back; unknown fields are an error."""

from __future__ import annotations

import reprlib
import types
from dataclasses import fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from vpr.errors import VPRError

Config = TypeVar("Config")

KIND = "name"  # the key that selects the class of a union
MAX_NUMBER = 2**53  # of numbers in a configuration
MAX_LENGTH = 1000  # of lists in a configuration


def to_dict(config: Any) -> dict[str, Any]:
    """Convert nested dataclasses to the types of JSON."""
    named = {KIND: config.name} if hasattr(type(config), KIND) else {}
    values = {f.name: getattr(config, f.name) for f in fields(config)}
    return named | {key: _plain(value) for key, value in values.items()}


def from_dict(cls: type[Config], data: Any, where: str) -> Config:
    """The inverse of `to_dict`; `where` names the source in error messages.

    Missing fields take their default. Unknown fields and wrong types are errors.
    """
    if not isinstance(data, dict):
        raise VPRError(f"{where} must be an object, got {reprlib.repr(data)}")
    hints = get_type_hints(cls)
    known = {f.name for f in fields(cls)}  # type: ignore[arg-type]
    values = {str(k): v for k, v in data.items() if k != KIND or KIND in known}
    unknown = sorted(set(values) - known)
    if unknown:
        raise VPRError(f"unknown field {unknown[0]!r} in {where}: was it made by a newer vpr?")
    return cls(**{k: typed(hints[k], v, f"{where}.{k}") for k, v in values.items()})


def named_classes(hint: Any) -> dict[str, type]:
    """The classes of a union of dataclasses, by name; empty for any other type."""
    if get_origin(hint) in (Union, types.UnionType) and all(map(is_dataclass, get_args(hint))):
        return {cls.name: cls for cls in get_args(hint)}
    return {}


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return to_dict(value)
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def typed(hint: Any, value: Any, where: str) -> Any:
    """Convert `value` to the type of the field's annotation."""
    if classes := named_classes(hint):
        return from_dict(_named_class(classes, value, where), value, where)
    if is_dataclass(hint):
        return from_dict(hint, value, where)  # type: ignore[arg-type]
    if get_origin(hint) is tuple and isinstance(value, list) and len(value) <= MAX_LENGTH:
        return tuple(typed(get_args(hint)[0], v, where) for v in value)
    if get_origin(hint) is Literal and value in get_args(hint):
        return value
    if hint is float and type(value) in (int, float) and abs(value) <= MAX_NUMBER:  # not NaN
        return float(value)
    if hint is int and type(value) is int and abs(value) <= MAX_NUMBER:
        return value
    if hint in (str, bool) and type(value) is hint:
        return value
    raise VPRError(f"{where} cannot be {reprlib.repr(value)}")  # which shortens long values


def _named_class(classes: dict[str, type], value: Any, where: str) -> type:
    name = value.get(KIND) if isinstance(value, dict) else None
    if not isinstance(name, str) or name not in classes:
        raise VPRError(
            f"{where}.{KIND} must be one of {', '.join(classes)}, got {reprlib.repr(name)}"
        )
    return classes[name]
