"""`vpr bench KIND`: run the benchmarks, which are in the folder `benchmarks/` of the repository."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from vpr.errors import VPRError

REPOSITORY = Path(__file__).parents[3]


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    _benchmarks().declare(parser, words)


def run(arguments: argparse.Namespace) -> int:
    code: int = _benchmarks().run(arguments)
    return code


def _benchmarks() -> ModuleType:
    if not (REPOSITORY / "benchmarks" / "command.py").is_file():
        raise VPRError(
            "the benchmarks are not part of the installed package: clone the repository and run "
            "`pip install -e .` there"
        )
    if str(REPOSITORY) not in sys.path:
        sys.path.insert(0, str(REPOSITORY))
    return import_module("benchmarks.command")
