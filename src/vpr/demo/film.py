"""A film on a page: rows under each other that share their columns, and words for each column."""

from __future__ import annotations

from collections.abc import Iterable

from vpr.demo.layout import CELL, FRAME
from vpr.demo.templates import carried, fill


def film(
    number: int, rows: Iterable[tuple[str, str]], tips: list[str], summary: str, still: str = ""
) -> str:
    """Sequence `number` as rows of (label, lane); `tips` has what to say of each frame."""
    return fill(
        "demo/sequence.html",
        number=str(number),
        summary=summary,
        still=still,
        rows="".join(f'<div class="label">{label}</div>{lane}' for label, lane in rows),
        tips=carried(tips),
        cell=str(CELL),
        frame=str(FRAME),
    )
