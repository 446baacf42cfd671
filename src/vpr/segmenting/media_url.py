"""The address of footage in files for other programs."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote


def media_url(source: str) -> str:
    """A `file:` URL for a file; other sources unchanged except for unsafe characters."""
    if os.path.exists(source):
        return Path(source).absolute().as_uri()
    return quote(source, safe=":/?&=%#@+~,;", errors="replace")


def media_name(source: str) -> str:
    """The file name, without bytes that are not valid text and without line breaks."""
    name = Path(source).name or source
    return " ".join(name.encode("utf-8", "replace").decode("utf-8").split())
