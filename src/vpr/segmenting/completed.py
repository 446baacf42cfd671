"""Records of completed pieces of footage, one small file each, next to their output files.

A piece is complete if its files exist and were written from the same source (size and modification
time) with the same weights, calibration and settings. A record also has a digest of each file, so
that a file that was edited since it was recorded is not overwritten or deleted.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from vpr.errors import VPRError
from vpr.executors.claims import CLAIM_SUFFIX
from vpr.segmenting.output_names import Target, identity
from vpr.utils.files import error_reason, read_json, write_json
from vpr.video.finding import images_in, is_address

FOLDER = ".finished"
FORMAT = 1


class CompletedFiles:
    """The records in one output folder, for one model and its settings."""

    def __init__(self, out: Path, made_by: dict[str, Any], ending: str) -> None:
        self.out, self.ending = out, ending
        self.made_by = {"format": FORMAT, **made_by}

    def taken(self, name: str, source: str) -> bool:
        """Whether files of this name belong to other footage."""
        owner = self._read(name).get("source")
        return owner is not None and owner != identity(source)

    def summary(self, target: Target) -> dict[str, Any] | None:
        """The outcome of a complete piece; None if it must be segmented."""
        record, state = self._read(target.name), file_state(target.source)
        same = state is not None and record.get("state") == state
        if not same or record.get("made_by") != self.made_by:
            return None
        summary, files = record.get("summary"), self._files(target.name, record)
        if not isinstance(summary, dict) or summary.get("files") != files:
            return None
        return summary if all((self.out / name).exists() for name in files) else None

    def check_unchanged(self, target: Target) -> None:
        """Raise an error if a file of a piece was changed since it was written."""
        for name, digest in self._digests(target.name).items():
            path = self.out / name
            if path.is_file() and file_digest(path) != digest:
                raise VPRError(
                    f"{path} was changed since vpr wrote it: move it to another folder, or give "
                    "another --out"
                )

    def start_writing(self, target: Target) -> None:
        """Check again, and clear the digests: a killed process leaves files that do not match."""
        self.check_unchanged(target)
        record = self._read(target.name)
        if record:
            write_json(self._path(target.name), record | {"made_by": None, "digests": {}})

    def write(self, target: Target, files: list[str], summary: dict[str, Any]) -> None:
        """Record the files of a piece, and delete older ones that were not written again.

        `start_writing` must be called before the files are written.
        """
        for name in set(self._files(target.name, self._read(target.name))) - set(files):
            (self.out / name).unlink(missing_ok=True)
        record = {
            "source": identity(target.source),
            "state": file_state(target.source),
            "made_by": self.made_by,
            "files": files,
            "digests": {name: file_digest(self.out / name) for name in files},
            "summary": summary,
        }
        write_json(self._path(target.name), record)

    def claim(self, target: Target) -> Path:
        """The file with which a process claims a piece, see `vpr.executors.claims`."""
        path = self._path(target.name)
        return path.with_name(path.name + CLAIM_SUFFIX)

    def _files(self, name: str, record: dict[str, Any]) -> list[str]:
        """The files in a record that vpr can have written: `name` with suffixes, in one folder.

        The output folder may be untrusted, and old files in a record are deleted.
        """
        listed = record.get("files")
        names = listed if isinstance(listed, list) else []
        stem, out = Path(name), self.out.resolve()
        return [
            each
            for each in names
            if isinstance(each, str)
            and Path(each).parent == stem.parent
            and Path(each).name.startswith(f"{stem.name}.")
            and (self.out / each).parent.resolve().is_relative_to(out)
            and not (self.out / each).is_dir()
        ]

    def _digests(self, name: str) -> dict[str, str]:
        """The files in a record that have a digest."""
        record = self._read(name)
        digests = record.get("digests")
        if not isinstance(digests, dict):
            return {}
        return {each: digests[each] for each in self._files(name, record) if each in digests}

    def _read(self, name: str) -> dict[str, Any]:
        try:
            record = read_json(self._path(name))
        except VPRError:  # missing or incomplete
            return {}
        return record if isinstance(record, dict) else {}

    def _path(self, name: str) -> Path:
        return self.out / FOLDER / f"{name}.{self.ending}"


def file_digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise VPRError(f"{path} cannot be read: {error_reason(error)}") from error


def file_state(source: str) -> list[int] | None:
    """Size and modification time of a file or folder of pictures; None for a URL or device."""
    if is_address(source):
        return None
    path = Path(source)
    try:
        found = [os.stat(each) for each in (images_in(path) if path.is_dir() else [path])]
    except (OSError, VPRError):
        return None
    return [len(found), sum(s.st_size for s in found), max(s.st_mtime_ns for s in found)]
