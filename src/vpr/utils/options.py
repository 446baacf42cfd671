"""Dataclass fields that carry their own line of help, for `--help` and the docs."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def option(default: Any, help: str, flag: bool = True) -> Any:
    """A field with a default and a sentence that tells what it is; `flag`: for users to set."""
    return field(default=default, metadata={"help": help, "flag": flag})
