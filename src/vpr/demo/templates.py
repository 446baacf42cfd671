"""A page's HTML, style and script are files beside its code, with places to fill."""

from __future__ import annotations

from importlib import resources
from string import Template


def fill(name: str, /, **values: str) -> str:
    return Template(read(name)).substitute(values)


def read(name: str) -> str:
    """By its path within the package, as `demo/style.css`."""
    return (resources.files("vpr") / name).read_text(encoding="utf-8")
