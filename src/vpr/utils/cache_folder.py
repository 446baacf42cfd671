"""The folder for cached files, which can be created again."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path


def cache_folder() -> Path:
    """The cache folder of the user on this platform; it may not exist yet."""
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (chosen if chosen.is_absolute() else _platform_default()) / "vpr"


def _platform_default() -> Path:
    try:
        home = Path.home()
    except RuntimeError:  # a user without a home, as in some containers
        return Path(tempfile.gettempdir())
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"
