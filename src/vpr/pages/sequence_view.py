"""A sequence on a page: rows that share one column per frame, and a tooltip for each column.

The sizes are in pixels. A frame and everything below it share a column of width `CELL`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from vpr.pages.sequence_data import LevelDecisions
from vpr.pages.templates import fill, script_json

VIEWS = ("video", "reconstruction")  # captions of the two pictures in the tooltip

DECISIONS = {
    "expected": "expected event (CE)",
    "unexpected": "unexpected event (CU)",
    "both": "event, expected and unexpected",
    "clock": "event of a fixed clock",
}
CELL = 34  # width of a column: a frame with a margin on either side
FRAME = 32
RULER = 18  # height of the frame numbers
LANE = 26  # height of a row of marks
CURVES = 150  # height of the curves of one level
AXIS = 44  # width of the numbers beside the curves


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


def tip(t: int, rows: list[tuple[str, str]]) -> str:
    """The tooltip of frame t, with rows of names and values, both markup."""
    cells = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows)
    return f"<b>Frame {t}</b><dl>{cells}</dl>"


def evidence_rows(level: LevelDecisions, t: int) -> list[tuple[str, str]]:
    """The values compared at frame t, and the decision."""
    return [
        ("D<sub>st</sub>", _number(level.kl_static[t])),
        ("D<sub>ch</sub>", _number(level.kl_change[t])),
        ("threshold", _number(level.threshold[t])),
        ("decision", _decision(level, t)),
    ]


def _decision(level: LevelDecisions, t: int) -> str:
    if t == 0:
        return "first frame: every level updates"
    return next((DECISIONS[b.kind] for b in level.boundaries if b.frame == t), "no event")


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "–"


def centre(frame: int) -> float:
    """x of the middle of a frame's column."""
    return (frame + 0.5) * CELL
