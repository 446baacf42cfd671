"""The demo as one HTML file."""

from __future__ import annotations

from html import escape

from vpr.pages.demo.demo_run import Demo, scores_of
from vpr.pages.demo.score_cards import legend, level_name, score_cards
from vpr.pages.factors import factor_value, readable_factors
from vpr.pages.frame_strip import strip
from vpr.pages.sequence_curves import LogScale, curve_label, curves
from vpr.pages.sequence_data import LevelDecisions, Outcome, SequenceData
from vpr.pages.sequence_marks import cross, disc, guides, listed, ring, ruler, truth_lane
from vpr.pages.sequence_view import CELL, LANE, VIEWS, centre, evidence_rows, sequence_view, tip
from vpr.pages.svg import drawing
from vpr.pages.templates import fill, shell

EXACT = " Only the exact frame counts: an event one frame late is one missed and one false."


def demo_page(demo: Demo) -> str:
    scales = [LogScale.over(levels) for levels in demo.levels]
    levels = demo.clips[0].levels
    factors = " or the ".join(dict.fromkeys(escape(level.factor) for level in levels))
    dataset = escape(demo.dataset)
    body = fill(
        "demo/demo.html",
        dataset=dataset,
        truth=f" Triangles mark the frames where the {factors} truly changes." if factors else "",
        exact=EXACT if factors else "",
        assignment=_assignment(levels),
        clips=str(len(demo.clips)),
        length=str(len(demo.clips[0].frames)),
        seed=str(demo.seed),
        cards=score_cards(demo),
        legend=legend(factors),
        sequences="".join(
            _sequence(demo, clip, number, scales) for number, clip in enumerate(demo.clips, start=1)
        ),
    )
    return shell(
        "demo", f"vpr demo: events in {dataset}", body, scripts=["sequence_view.js"], views=VIEWS
    )


def _assignment(levels: tuple[LevelDecisions, ...]) -> str:
    """Which level should follow which factor; empty with one level or without labels."""
    if len(levels) == 1 or not levels[0].factor:
        return ""
    first, *others = ((level.level, escape(level.factor)) for level in levels)
    parts = ["Level {} should follow the {}".format(*first)]
    parts += ["level {} the {}".format(*each) for each in others]
    return f" {', '.join(parts)}."


def _sequence(demo: Demo, clip: SequenceData, number: int, scales: list[LogScale]) -> str:
    length = len(clip.frames)
    decoded = strip(clip.reconstruction, f"the model's reconstruction of sequence {number}")
    rows = [
        ("", ruler(length)),
        ("video", strip(clip.frames, f"the {length} frames of sequence {number}")),
        *_lanes(demo, clip),
        ("reconstruction", decoded),
    ]
    rows += [
        (
            curve_label(level_name(demo, level.level, level.factor), scale),
            curves(level, scale),
        )
        for level, scale in zip(clip.levels, scales, strict=True)
    ]
    return sequence_view(
        number, rows, frame_tips(demo, clip), _summary(clip), _constants(demo, clip)
    )


def _lanes(demo: Demo, clip: SequenceData) -> list[tuple[str, str]]:
    """The changes of each factor, if labelled, above the levels that should follow it."""
    rows: list[tuple[str, str]] = []
    for factor in dict.fromkeys(level.factor for level in clip.levels):
        if factor:
            rows += [(f"{escape(factor)} changes", truth_lane(factor, clip.changes[factor]))]
        rows += [
            (f"level {level_name(demo, lv.level, factor)} events", _level_lane(clip, lv))
            for lv in clip.levels
            if lv.factor == factor
        ]
    return rows


def _level_lane(clip: SequenceData, level: LevelDecisions) -> str:
    missed = "".join(ring(centre(t), LANE / 2) for t in level.outcome.missed)
    shape = dict.fromkeys(level.outcome.false, cross)
    events = "".join(
        shape.get(b.frame, disc)(centre(b.frame), LANE / 2, b.kind) for b in level.boundaries
    )
    content = guides(level.changes, LANE) + missed + events
    return drawing(content, CELL * len(clip.frames), LANE, _lane_text(level))


def _lane_text(level: LevelDecisions) -> str:
    if not level.factor:
        return f"level {level.level}: events at {listed([b.frame for b in level.boundaries])}"
    found, missed, false = (listed(frames) for frames in level.outcome)
    return (
        f"level {level.level}: {level.factor} changes found at {found}; missed at {missed}; "
        f"false events at {false}"
    )


def _summary(clip: SequenceData) -> str:
    parts = []
    for level in clip.levels:
        if not level.factor:
            parts.append(f"level {level.level}: {len(level.boundaries)} events")
            continue
        found, missed, false = (len(frames) for frames in level.outcome)
        parts.append(
            f"level {level.level} found {found} of {found + missed} {escape(level.factor)} "
            f"changes, {false} false · F1 {scores_of([level]).f1:.2f}"
        )
    return "<br>".join(parts)


def _constants(demo: Demo, clip: SequenceData) -> str:
    """The factors that are constant in this sequence."""
    line = " · ".join(
        f"{escape(name)} {factor_value(demo.dataset, name, clip.factors[name], 0)}"
        for name in constant_factors(demo)
    )
    return f"<p>{line}</p>" if line else ""


def frame_tips(demo: Demo, clip: SequenceData) -> list[str]:
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


def _tip(demo: Demo, clip: SequenceData, shown: list[str], t: int) -> str:
    rows = [
        (escape(name), factor_value(demo.dataset, name, clip.factors[name], t)) for name in shown
    ]
    for level in clip.levels:
        rows += _level_rows(demo, level, t)
    return tip(t, rows)


def _level_rows(demo: Demo, level: LevelDecisions, t: int) -> list[tuple[str, str]]:
    """Values and decision of a level, under its name if there are several."""
    name = level_name(demo, level.level, level.factor)
    heading = [(f"<i>level {name}</i>", "")] if len(demo.levels) > 1 else []
    outcome = [("outcome", _outcome(level.outcome, t))] if demo.labelled else []
    return [*heading, *evidence_rows(level, t), *outcome]


def _outcome(outcome: Outcome, t: int) -> str:
    names = (name for name, frames in outcome._asdict().items() if t in frames)
    return next(names, "–" if t == 0 else "correct")
