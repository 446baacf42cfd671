"""Segments uploaded videos with limits, each in its own folder."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from vpr.errors import VPRError
from vpr.segmenting.adapt import DEFAULT_SECONDS, adapt
from vpr.segmenting.batch import write_files
from vpr.segmenting.segment import segment

CACHE = "cache"  # of decoded footage and features; emptied after each job
MAX_JOBS = 20  # jobs; the oldest are deleted
# The first bytes of each container, because a playlist could name other files.
FILE_SIGNATURES = {
    **dict.fromkeys((".mp4", ".m4v", ".mov"), rb".{4}(ftyp|moov|mdat|free|skip|wide)"),
    **dict.fromkeys((".mkv", ".webm"), rb"\x1aE\xdf\xa3"),
    **dict.fromkeys((".mpg", ".mpeg"), rb"\0\0\x01[\xba\xb3]"),
    ".avi": rb"RIFF.{4}AVI ",
    ".ogv": rb"OggS",
    ".ts": rb"G",
}

OnProgress = Callable[[str, int, int], None]  # description, done, total


@dataclass(frozen=True)
class Limits:
    """What an upload may use. The time includes training."""

    megabytes: int = 500
    minutes: float = 15.0


class Jobs:
    """One folder per upload in `folder`, with an unguessable name."""

    def __init__(self, folder: Path, model: str | None, limits: Limits) -> None:
        self.folder, self.model, self.limits = folder.absolute(), model, limits
        self.known: dict[str, Path] = {}  # name → folder, oldest first

    def run(self, upload: Path, seconds: float, on_progress: OnProgress) -> tuple[str, list[Path]]:
        """Segment an upload with the model, or one that is trained on it for `seconds` (above 0).

        Returns the name of the job and its files; the page comes first.
        """
        name = _checked(upload, self.limits)
        deadline = monotonic() + 60 * self.limits.minutes

        def report(what: str, done: int, total: int) -> None:
            if monotonic() > deadline:
                raise VPRError(
                    f"this took longer than {self.limits.minutes:g} minutes, the limit of this "
                    "server: use a shorter video"
                )
            on_progress(what, done, total)

        job, folder = self._new()
        film, model = folder / name, self.model
        shutil.move(upload, film)
        if model is None or seconds > 0:
            seconds = min(seconds or DEFAULT_SECONDS, 60 * self.limits.minutes)
            try:
                adapt([str(film)], folder / "model", seconds, model, on_progress=report)
            finally:
                shutil.rmtree(self.folder / CACHE, ignore_errors=True)
            model = str(folder / "model")
        timeline = segment(
            film,
            model,
            on_progress=lambda done, of: report("segmenting", done, max(of or 0, done)),
        )
        files = write_files(timeline, film.with_suffix(""))
        return job, sorted(files, key=lambda path: path.suffix != ".html")

    def file(self, job: str, name: str) -> Path | None:
        """A file of a job; None if there is no such file."""
        folder = self.known.get(job)
        found = {path.name: path for path in folder.iterdir()} if folder is not None else {}
        path = found.get(name)
        return path if path is not None and path.is_file() else None

    def _new(self) -> tuple[str, Path]:
        job = secrets.token_hex(16)
        folder = self.folder / job
        folder.mkdir(parents=True)
        self.known[job] = folder
        while len(self.known) > MAX_JOBS:
            shutil.rmtree(self.known.pop(next(iter(self.known))), ignore_errors=True)
        return job, folder


def _checked(upload: Path, limits: Limits) -> str:
    """The name of an uploaded video, from letters, digits, - and _, with its suffix."""
    suffix = upload.suffix.lower()
    if suffix not in FILE_SIGNATURES:
        raise VPRError(
            f"{upload.name} is no video: upload one of {', '.join(sorted(FILE_SIGNATURES))}"
        )
    if upload.stat().st_size > limits.megabytes * 10**6:
        raise VPRError(f"{upload.name} is larger than {limits.megabytes} MB, the limit here")
    with upload.open("rb") as file:
        start = file.read(16)
    if not re.match(FILE_SIGNATURES[suffix], start, re.DOTALL):
        raise VPRError(f"{upload.name} is not a {suffix} file: convert it, for example with ffmpeg")
    stem = re.sub(r"[^\w-]+", "-", upload.stem).strip("-")[:80]
    return f"{stem or 'video'}{suffix}"
