"""Pages made of HTML, CSS and JavaScript files next to their code, with `$name` placeholders."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib import resources
from string import Template
from typing import Any

from vpr.pages.palette import css_variables

# What a page may load: its own script, styles, pictures within the page, and a video next to it.
# Text from a file that became markup could therefore not run a script or contact a machine.
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src 'unsafe-inline'; img-src data:; "
    "media-src 'self' file:; base-uri 'none'; form-action 'none'"
)

ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def fill(name: str, /, **values: str) -> str:
    """Fill in the placeholders of a file."""
    return Template(read(name)).substitute(values)


def read(name: str) -> str:
    """The text of a file, named by its path in `vpr/pages`: `demo/demo.html`."""
    return (resources.files("vpr.pages") / name).read_text(encoding="utf-8")


def shell(
    name: str,
    title: str,
    body: str,
    *,
    styles: Sequence[str] = (),
    scripts: Sequence[str],
    views: Sequence[str],
) -> str:
    """A complete page around `body`: head, palette, common style, tooltip and scripts.

    `title` and `body` are markup. `styles` and `scripts` are files, in order. `views` are captions
    of the pictures in the tooltip.
    """
    script = "\n".join(map(read, ("tip.js", *scripts)))
    return fill(
        "shell.html",
        policy=POLICY.format(script=_hash(script)),
        name=name,
        title=title,
        body=body,
        style="\n".join([css_variables(), *map(read, ("style.css", *styles))]),
        script=script,
        views="\n".join(
            f"<figure><span></span><figcaption>{view}</figcaption></figure>" for view in views
        ),
    )


def _hash(script: str) -> str:
    """The hash with which a Content-Security-Policy allows an inline script."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"


def script_json(value: Any) -> str:
    """JSON for a script element: `<` is escaped, so that no text can close the element."""
    return ENCODER.encode(value).replace("<", "\\u003c")
