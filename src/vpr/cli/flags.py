"""Config dataclasses as command-line flags: every field one flag, dotted like the config."""

from __future__ import annotations

import argparse
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

Config = TypeVar("Config")


def add_config_flags(parser: argparse.ArgumentParser, config: Any, prefix: str = "") -> None:
    """One flag for each field of `config`, nested ones as `--model.levels`."""
    group = parser.add_argument_group(prefix.rstrip(".") or "run", _first_line(config))
    hints = get_type_hints(type(config))
    for field in fields(config):
        value = getattr(config, field.name)
        if is_dataclass(value):
            add_config_flags(parser, value, f"{prefix}{field.name}.")
        elif field.metadata.get("flag", True):
            group.add_argument(
                f"--{prefix}{field.name}".replace("_", "-"),
                dest=f"{prefix}{field.name}",
                default=argparse.SUPPRESS,
                help=f"{field.metadata['help']} [{_shown(value)}]".replace("%", "%%"),
                **_kind(hints[field.name]),
            )


def apply_flags(config: Config, given: dict[str, Any], prefix: str = "") -> Config:
    """`config` with the fields that flags named."""
    changes: dict[str, Any] = {}
    for field in fields(config):  # type: ignore[arg-type]
        name, value = f"{prefix}{field.name}", getattr(config, field.name)
        if is_dataclass(value):
            changes[field.name] = apply_flags(value, given, f"{name}.")
        elif name in given:
            changes[field.name] = given[name]
    return replace(config, **changes)  # type: ignore[type-var]


def _kind(hint: Any) -> dict[str, Any]:
    """What argparse needs to read a value of this type."""
    if hint is bool:
        return {"action": argparse.BooleanOptionalAction}
    if get_origin(hint) is Literal:
        return {"choices": get_args(hint)}
    if get_origin(hint) is tuple:
        return {"type": _numbers, "metavar": "N,N,…"}
    return {"type": hint, "metavar": {int: "N", float: "X"}.get(hint, "NAME")}


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


_numbers.__name__ = "list of numbers"  # argparse names it in "invalid … value"


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _first_line(config: Any) -> str:
    return (type(config).__doc__ or "").splitlines()[0]
