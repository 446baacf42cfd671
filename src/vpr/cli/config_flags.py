"""Fields of configuration dataclasses as command-line options, such as `--model.levels`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from vpr.cli.options import finite, numbers
from vpr.errors import VPRError
from vpr.utils.config_json import named_classes

Config = TypeVar("Config")


def add_config_flags(
    parser: argparse.ArgumentParser,
    config: Any,
    words: Sequence[str],
    prefix: str = "",
    is_shown: Callable[[str], bool] = lambda name: True,
) -> None:
    """Add one option for each field of `config`; nested fields are `--model.levels`.

    A field that can be one of several classes is an option too, such as `--data maze`; `words`, the
    command line, decides which class's options to add. `--help` lists those that `is_shown` names.
    """
    any_shown = any(is_shown(f"{prefix}{field.name}") for field in fields(config))
    line = _first_line(config) if any_shown else None  # argparse omits groups without any text
    group = parser.add_argument_group(prefix.rstrip(".") or "run", line)
    hints = get_type_hints(type(config))
    for field in fields(config):
        name, value = f"{prefix}{field.name}", getattr(config, field.name)
        kinds = named_classes(hints[field.name])
        if kinds:
            text = f"Kind of {field.name}; its options are listed below. [{value.name}]"
            shown = text if is_shown(name) else argparse.SUPPRESS
            group.add_argument(f"--{name}", choices=kinds, default=argparse.SUPPRESS, help=shown)
            value = _chosen(value, kinds, value_of(f"--{name}", words))
        if is_dataclass(value):
            add_config_flags(parser, value, words, f"{name}.", is_shown)
        elif field.metadata["flag"]:
            text = f"{field.metadata['help']} [{_shown(value)}]".replace("%", "%%")
            group.add_argument(
                f"--{name}".replace("_", "-"),
                dest=name,
                default=argparse.SUPPRESS,
                help=text if is_shown(name) else argparse.SUPPRESS,
                **_kind(hints[field.name], field.metadata["local"]),
            )


def apply_flags(config: Config, given: dict[str, Any], prefix: str = "") -> Config:
    """`config` with the options that were given."""
    changes = changed_fields(config, given, prefix)
    try:
        return replace(config, **changes)  # type: ignore[type-var]
    except VPRError as error:
        raise VPRError(_with_option(str(error), config, prefix)) from error


def _with_option(message: str, config: Any, prefix: str) -> str:
    """Name the option: `batch_size must be …` becomes `--training.batch-size must be …`."""
    name, must, rest = message.partition(" must ")
    if name.partition(".")[0] not in {field.name for field in fields(config)}:
        return message
    return f"--{prefix}{name}".replace("_", "-") + must + rest


def changed_fields(config: Any, given: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The fields of `config` that options change; nested configurations are complete."""
    changes: dict[str, Any] = {}
    hints = get_type_hints(type(config))
    for field in fields(config):
        name, value = f"{prefix}{field.name}", getattr(config, field.name)
        kinds = named_classes(hints[field.name])
        if kinds:
            value = _chosen(value, kinds, given.get(name))
        if is_dataclass(value):
            changes[field.name] = apply_flags(value, given, f"{name}.")
        elif name in given:
            changes[field.name] = given[name]
    return changes


def _chosen(value: Any, kinds: dict[str, type], name: str | None) -> Any:
    """`value`, or the defaults of another class if that was given."""
    return kinds[name]() if name in kinds and name != value.name else value


def value_of(flag: str, words: Sequence[str]) -> str | None:
    """The value of `flag`, before argparse parses the words."""
    for number, word in enumerate(words):
        if word == flag and number + 1 < len(words):
            return words[number + 1]
        if word.startswith(f"{flag}="):
            return word.removeprefix(f"{flag}=")
    return None


def _kind(hint: Any, is_path: bool) -> dict[str, Any]:
    """Arguments of `add_argument` for a value of this type."""
    if hint is bool:
        return {"action": argparse.BooleanOptionalAction}
    if get_origin(hint) is Literal:
        return {"choices": get_args(hint)}
    if get_origin(hint) is tuple:
        return {"type": numbers, "metavar": "N,N,…"}
    if hint is float:
        return {"type": finite, "metavar": "X"}
    name = "PATH" if is_path else "NAME"
    return {"type": hint, "metavar": "N" if hint is int else name}


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _first_line(config: Any) -> str:
    return (type(config).__doc__ or "").splitlines()[0]
