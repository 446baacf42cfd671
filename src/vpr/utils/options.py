"""Dataclass fields with a line of help, for `--help` and the docs."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def option(default: Any, help: str, flag: bool = True, formerly: str = "") -> Any:
    """A field with a default and a line of help.

    `flag`: whether users can set it on the command line. `formerly`: a previous name of the field,
    under which saved configurations may contain it.
    """
    return field(default=default, metadata={"help": help, "flag": flag, "formerly": formerly})
