"""A digest of the code that decides what VPR learns, to recognise results of other code."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import vpr

PACKAGE = Path(vpr.__file__).parent
TRAINING_CODE = (  # files and folders of the package, without presets and baselines
    "beliefs.py",
    "block.py",
    "config.py",
    "data",
    "events.py",
    "experiments/shared/minimal_vpr.py",
    "model.py",
    "nets",
    "state.py",
    "training",
)


@cache
def code_digest(package: Path = PACKAGE) -> str:
    """Of all statements in `TRAINING_CODE`. Comments, docstrings and formatting do not count."""
    digest = hashlib.sha256()
    for file in _files(package):
        statements = _without_docstrings(file.read_text(encoding="utf-8"))
        digest.update(f"{file.relative_to(package).as_posix()}\n{statements}\n".encode())
    return digest.hexdigest()[:12]


def _files(package: Path) -> Iterator[Path]:
    for name in TRAINING_CODE:
        path = package / name
        yield from [path] if path.suffix == ".py" else sorted(path.rglob("*.py"))


def _without_docstrings(source: str) -> str:
    """The source as Python prints its syntax tree, which has no comments."""
    tree = ast.parse(source)
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.unparse(tree)
