"""Formats for other programs, which `vpr segment --export` writes.

To add one: a module with its writer next to this file, a method of `Timeline` that calls it, its
name in `FORMATS` and its line in `write_exports`, a line of the description in
`vpr.cli.segment`, a row in docs/how-to/export.md, and a test in tests/segmenting/test_exports.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vpr.errors import VPRError

if TYPE_CHECKING:
    from vpr.segmenting.timeline import Timeline

FORMATS = ("eaf", "label-studio", "otio", "edl")
LABEL_STUDIO = ".label-studio.json"


def parse_formats(text: str) -> tuple[str, ...]:
    """Comma-separated names, without duplicates."""
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in FORMATS:
            raise VPRError(f"no format {name!r}: --export takes {', '.join(FORMATS)}")
    return names


def write_exports(timeline: Timeline, stem: Path, formats: Sequence[str]) -> list[Path]:
    """Write the timeline in these formats; the paths are `stem` with suffixes."""
    written: list[Path] = []
    for name in formats:
        path = stem.with_name(stem.name + (LABEL_STUDIO if name == "label-studio" else f".{name}"))
        if name == "edl":
            written += timeline.to_edl(path)
            continue
        {
            "eaf": timeline.to_eaf,
            "label-studio": timeline.to_label_studio,
            "otio": timeline.to_otio,
        }[name](path)
        written.append(path)
    return written
