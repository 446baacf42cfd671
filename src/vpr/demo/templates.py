"""The page's HTML, style and script are files beside this one, with places to fill."""

from __future__ import annotations

from importlib import resources
from string import Template


def fill(name: str, **values: str) -> str:
    return Template(read(name)).substitute(values)


def read(name: str) -> str:
    return (resources.files("vpr.demo") / name).read_text(encoding="utf-8")
