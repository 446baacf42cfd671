"""The tooltip of one frame of a sequence."""

from __future__ import annotations

import math

from vpr.pages.sequence_data import LevelDecisions

DECISIONS = {
    "expected": "expected event (CE)",
    "unexpected": "unexpected event (CU)",
    "both": "event, expected and unexpected",
    "clock": "event of a fixed clock",
}


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
