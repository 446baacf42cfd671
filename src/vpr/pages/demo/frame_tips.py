"""Tooltips of the demo: factors, values compared, decision and outcome at each frame."""

from __future__ import annotations

from html import escape

from vpr.pages.demo.demo_run import Clip, Demo, Detections, Outcome
from vpr.pages.demo.score_cards import level_name
from vpr.pages.factors import factor_value, readable_factors
from vpr.pages.sequence_view import evidence_rows, tip


def frame_tips(demo: Demo, clip: Clip) -> list[str]:
    """The tooltip of each frame, as HTML."""
    shown = changing_factors(demo)
    return [_tip(demo, clip, shown, t) for t in range(len(clip.frames))]


def changing_factors(demo: Demo) -> list[str]:
    """Factors that change in some sequence, and those that a level should follow."""
    followed = {level.factor for level in demo.clips[0].levels}
    return [
        name
        for name in readable_factors(demo.clips[0].factors)
        if name in followed or any(clip.changes[name].any() for clip in demo.clips)
    ]


def constant_factors(demo: Demo) -> list[str]:
    """Factors that do not change within a sequence, though sequences may differ."""
    changing = changing_factors(demo)
    return [name for name in readable_factors(demo.clips[0].factors) if name not in changing]


def _tip(demo: Demo, clip: Clip, shown: list[str], t: int) -> str:
    rows = [
        (escape(name), factor_value(demo.dataset, name, clip.factors[name], t)) for name in shown
    ]
    for level in clip.levels:
        rows += _level_rows(demo, level, t)
    return tip(t, rows)


def _level_rows(demo: Demo, level: Detections, t: int) -> list[tuple[str, str]]:
    """Values and decision of a level, under its name if there are several."""
    name = level_name(demo, level.level, level.factor)
    heading = [(f"<i>level {name}</i>", "")] if len(demo.pooled) > 1 else []
    outcome = [("outcome", _outcome(level.outcome, t))] if demo.labelled else []
    return [*heading, *evidence_rows(level, t), *outcome]


def _outcome(outcome: Outcome, t: int) -> str:
    names = (name for name, frames in outcome._asdict().items() if t in frames)
    return next(names, "–" if t == 0 else "correct")
