"""A page's HTML, style and script are files beside its code, with places to fill."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from string import Template
from typing import Any

ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def fill(name: str, /, **values: str) -> str:
    return Template(read(name)).substitute(values)


def read(name: str) -> str:
    """By its path within the package, as `demo/style.css`."""
    return (resources.files("vpr") / name).read_text(encoding="utf-8")


def shell(
    name: str,
    title: str,
    body: str,
    *,
    styles: Sequence[str],
    scripts: Sequence[str],
    views: Sequence[str],
) -> str:
    """A whole page around `body`, which is markup as `title` is: head, tip and script.

    `views` says what the pictures in the tip are; styles and scripts are files, in order.
    """
    return fill(
        "demo/shell.html",
        name=name,
        title=title,
        body=body,
        style="\n".join(map(read, styles)),
        script="\n".join(map(read, scripts)),
        views="\n".join(
            f"<figure><span></span><figcaption>{view}</figcaption></figure>" for view in views
        ),
    )


def carried(value: Any) -> str:
    """JSON within a script element: no "<" of it may end the element, or open another."""
    return ENCODER.encode(value).replace("<", "\\u003c")
