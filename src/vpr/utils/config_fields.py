"""Dataclass fields with a line of help, for `--help` and the docs."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any


def option(default: Any, help: str, flag: bool = True, local: bool = False) -> Any:
    """A field with a default and a line of help.

    `flag`: whether users can set it on the command line. `local`: whether it is a path on this
    machine; the configuration of a downloaded model cannot set it.
    """
    return field(default=default, metadata={"help": help, "flag": flag, "local": local})


def local_fields(config: Any) -> list[str]:
    """The fields of a configuration, or of its class, that are paths on this machine."""
    return [each.name for each in fields(config) if each.metadata.get("local")]
