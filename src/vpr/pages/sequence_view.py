"""A sequence on a page: rows that share one column per frame, and a tooltip for each column."""

from __future__ import annotations

from collections.abc import Iterable

from vpr.pages.sequence_layout import CELL, FRAME
from vpr.pages.templates import fill, script_json

VIEWS = ("video", "reconstruction")  # captions of the two pictures in the tooltip


def sequence_view(
    number: int, rows: Iterable[tuple[str, str]], tips: list[str], summary: str, constants: str = ""
) -> str:
    """Sequence `number` as rows of (label, content); `tips` has the tooltip of each frame."""
    return fill(
        "sequence_view.html",
        number=str(number),
        summary=summary,
        constants=constants,
        rows="".join(f'<div class="label">{label}</div>{lane}' for label, lane in rows),
        tips=script_json(tips),
        cell=str(CELL),
        frame=str(FRAME),
    )
