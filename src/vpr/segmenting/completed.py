"""What was finished before: a stamp for each piece of footage, apart from its files.

A piece is finished if its files are there and were made from the same file (size and time of its
last change), by the same weights, with the same settings.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from vpr.errors import VPRError
from vpr.segmenting.targets import Target, identity
from vpr.utils.files import read_json, write_json
from vpr.video.finding import images_in, is_address

FOLDER = ".finished"
FORMAT = 1


class Stamps:
    """Those of one folder of results, for one model and its settings."""

    def __init__(self, out: Path, made_by: dict[str, Any], ending: str) -> None:
        self.out, self.ending = out, ending
        self.made_by = {"format": FORMAT, **made_by}

    def taken(self, name: str, source: str) -> bool:
        """Do files of this name belong to other footage?"""
        owner = self._read(name).get("source")
        return owner is not None and owner != identity(source)

    def summary(self, target: Target) -> dict[str, Any] | None:
        """What was told of a finished piece; None if it is to be done."""
        stamp, state = self._read(target.name), _state(target.source)
        same = state is not None and stamp.get("state") == state
        if not same or stamp.get("made_by") != self.made_by:
            return None
        there = all((self.out / name).exists() for name in stamp["files"])
        return dict(stamp["summary"]) if there else None

    def write(self, target: Target, files: list[str], summary: dict[str, Any]) -> None:
        """Files of an earlier time that were not made again say something else: they go."""
        for name in set(self._read(target.name).get("files", [])) - set(files):
            (self.out / name).unlink(missing_ok=True)
        stamp = {
            "source": identity(target.source),
            "state": _state(target.source),
            "made_by": self.made_by,
            "files": files,
            "summary": summary,
        }
        write_json(self._path(target.name), stamp)

    def _read(self, name: str) -> dict[str, Any]:
        try:
            stamp = read_json(self._path(name))
        except VPRError:  # none, or none that is whole
            return {}
        return stamp if isinstance(stamp, dict) else {}

    def _path(self, name: str) -> Path:
        return self.out / FOLDER / f"{name}.{self.ending}"


def _state(source: str) -> list[int] | None:
    """Of a file, or of all pictures in a folder; an address may give something else each time."""
    if is_address(source):
        return None
    path = Path(source)
    try:
        found = [os.stat(each) for each in (images_in(path) if path.is_dir() else [path])]
    except (OSError, VPRError):
        return None
    return [len(found), sum(s.st_size for s in found), max(s.st_mtime_ns for s in found)]
