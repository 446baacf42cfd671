"""Real clips with free licences from Debian, npm and PyPI, for the films.

`clips.json` lists them. The clips of the three films are disjoint, also in what they show. A piece
is a range of frames (first, last exclusive) without a transition: cuts, fades and titles inside a
clip were found by eye and are left out.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vpr.data.base import OnProgress
from vpr.data.montage import Piece
from vpr.experiments.footage.packages import Package, take
from vpr.utils.files import parse_json, write_json

Part = Literal["training", "development", "test"]


class RealClip(NamedTuple):
    """A video file in a package."""

    part: Part
    package: Package
    member: str  # path in the package
    pieces: tuple[tuple[int, int], ...]

    @property
    def file(self) -> str:
        """The name of the extracted file."""
        return f"{self.package.name.split('/')[-1]}-{Path(self.member).name.removesuffix('.gz')}"


def _clip(each: dict[str, Any]) -> RealClip:
    package = Package(each["registry"], each["package"], each["version"], each["licence"])
    pieces = tuple((first, last) for first, last in each["pieces"])
    return RealClip(each["part"], package, each["member"], pieces)


_TABLE = resources.files("vpr") / "experiments" / "footage" / "clips.json"
CLIPS = tuple(map(_clip, parse_json(_TABLE.read_text(encoding="utf-8"))))


def fetch(folder: Path, on_progress: OnProgress | None = None) -> None:
    """Download missing clips, and record the source of each clip in `sources.json`."""
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


def pieces(folder: Path, part: Part) -> tuple[Piece, ...]:
    """The pieces of one part, in a folder that `fetch` filled."""
    return tuple(
        Piece(str(folder / clip.file), first, last)
        for clip in CLIPS
        if clip.part == part
        for first, last in clip.pieces
    )
