"""What the page says about one frame under the pointer."""

from __future__ import annotations

import math
from html import escape

from vpr.demo.factors import moving
from vpr.demo.run import Clip, Decided, Demo, Detections, Outcome
from vpr.demo.words import level_name, value

DECISIONS = {
    "expected": "expected event (CE)",
    "unexpected": "unexpected event (CU)",
    "both": "event, expected and unexpected",
    "clock": "event, by the clock",
}


def tips(demo: Demo, clip: Clip) -> list[str]:
    """HTML for each frame."""
    told = moving(demo)
    return [_tip(demo, clip, told, t) for t in range(len(clip.frames))]


def _tip(demo: Demo, clip: Clip, told: list[str], t: int) -> str:
    rows = [(escape(name), value(demo.dataset, name, clip.factors[name], t)) for name in told]
    for level in clip.levels:
        rows += _level(demo, level, t)
    return tip(t, rows)


def tip(t: int, rows: list[tuple[str, str]]) -> str:
    """Of frame t, with rows of names and values, which are markup already."""
    cells = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows)
    return f"<b>Frame {t}</b><dl>{cells}</dl>"


def _level(demo: Demo, level: Detections, t: int) -> list[tuple[str, str]]:
    """Evidence and decision; the level's name only where there are several."""
    name = level_name(demo, level.level, level.factor)
    heading = [(f"<i>level {name}</i>", "")] if len(demo.pooled) > 1 else []
    outcome = [("outcome", _outcome(level.outcome, t))] if demo.labelled else []
    return [*heading, *evidence(level, t), *outcome]


def evidence(level: Decided, t: int) -> list[tuple[str, str]]:
    """What was compared at frame t, and what followed."""
    return [
        ("D<sub>st</sub>", _number(level.kl_static[t])),
        ("D<sub>ch</sub>", _number(level.kl_change[t])),
        ("threshold", _number(level.threshold[t])),
        ("decision", _decision(level, t)),
    ]


def _decision(level: Decided, t: int) -> str:
    if t == 0:
        return "every level opens"
    return next((DECISIONS[b.kind] for b in level.boundaries if b.frame == t), "no event")


def _outcome(outcome: Outcome, t: int) -> str:
    names = (name for name, frames in outcome._asdict().items() if t in frames)
    return next(names, "–" if t == 0 else "right")


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "–"
