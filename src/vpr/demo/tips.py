"""What the page says about one frame under the pointer."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from vpr.demo.run import Clip, Demo, Detections, Outcome

# Values of factors that mean little as numbers.
WORDS = {("moving-ball", "colour"): ("red", "green", "cyan", "magenta", "yellow", "blue")}
DECISIONS = {
    "expected": "expected event (CE)",
    "unexpected": "unexpected event (CU)",
    "both": "event, expected and unexpected",
    "clock": "event, by the clock",
}


def tips(demo: Demo, clip: Clip) -> list[str]:
    """HTML for each frame."""
    return [_tip(demo, clip, t) for t in range(len(clip.true))]


def _tip(demo: Demo, clip: Clip, t: int) -> str:
    rows = [
        (escape(name), _factor(demo, clip, name, t))
        for name, values in clip.factors.items()
        if values.ndim == 1  # a position is better seen than read
    ]
    for level in clip.levels:
        rows += _level(level, t, named=len(clip.levels) > 1)
    cells = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)
    return f"<b>Frame {t}</b><dl>{cells}</dl>"


def _factor(demo: Demo, clip: Clip, name: str, t: int) -> str:
    now = _word(demo.dataset, name, clip.factors[name][t])
    if name != demo.factor or not clip.true[t]:
        return now
    return f"{_word(demo.dataset, name, clip.factors[name][t - 1])} → {now}"


def _word(dataset: str, factor: str, value: Any) -> str:
    words = WORDS.get((dataset, factor))
    return words[int(value)] if words else f"{float(value):g}"


def _level(level: Detections, t: int, named: bool) -> list[tuple[str, str]]:
    """Evidence and decision; the level's number only where there are several."""
    heading = [(f"<i>level {level.level}</i>", "")] if named else []
    return [
        *heading,
        ("D<sub>st</sub>", _number(level.kl_static[t])),
        ("D<sub>ch</sub>", _number(level.kl_change[t])),
        ("threshold", _number(level.threshold[t])),
        ("decision", _decision(level, t)),
        ("outcome", _outcome(level.outcome, t)),
    ]


def _decision(level: Detections, t: int) -> str:
    if t == 0:
        return "every level opens"
    return next((DECISIONS[b.kind] for b in level.boundaries if b.frame == t), "no event")


def _outcome(outcome: Outcome, t: int) -> str:
    names = (name for name, frames in outcome._asdict().items() if t in frames)
    return next(names, "–" if t == 0 else "right")


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "–"
