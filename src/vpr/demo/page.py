"""The demo as one HTML file that needs nothing else."""

from __future__ import annotations

from html import escape

from vpr.demo.cards import legend, numbers
from vpr.demo.curves import LogScale, axis, curves
from vpr.demo.factors import still
from vpr.demo.film import film
from vpr.demo.marks import level_lane, ruler, truth_lane
from vpr.demo.run import Clip, Demo, Detections, frames_of
from vpr.demo.strips import strip
from vpr.demo.templates import fill, shell
from vpr.demo.tips import tips
from vpr.demo.words import level_name, value

AXIS = 44  # width of the ticks' numbers
RULE = " Only the exact frame counts: a mark one frame late is one missed and one false."
SCRIPTS = ("demo/tip.js", "demo/hover.js")
VIEWS = ("seen", "reconstructed")  # what a film's tip shows of a frame


def page(demo: Demo) -> str:
    scales = [LogScale.over(levels) for levels in zip(*(c.levels for c in demo.clips), strict=True)]
    levels = demo.clips[0].levels
    factors = " or the ".join(dict.fromkeys(escape(level.factor) for level in levels))
    dataset = escape(demo.dataset)
    body = fill(
        "demo/template.html",
        dataset=dataset,
        truth=_truth(factors),
        rule=RULE if factors else "",
        duties=_duties(levels),
        clips=str(len(demo.clips)),
        length=str(len(demo.clips[0].frames)),
        seed=str(demo.seed),
        numbers=numbers(demo),
        legend=legend(factors),
        sequences="".join(
            _sequence(demo, clip, number, scales) for number, clip in enumerate(demo.clips, start=1)
        ),
    )
    return shell(
        "demo",
        f"vpr demo: events in {dataset}",
        body,
        styles=("demo/style.css",),
        scripts=SCRIPTS,
        views=VIEWS,
    )


def _truth(factors: str) -> str:
    """What the marks stand beside, if anybody knows; `factors` is markup already."""
    if not factors:
        return "the blue marks"
    triangles = f"triangles mark the frames where the {factors} truly changes"
    return f"{triangles}, and the blue marks beneath them"


def _duties(levels: tuple[Detections, ...]) -> str:
    """Who should follow what; with one level there is no question."""
    if len(levels) == 1 or not levels[0].factor:
        return ""
    first, *others = ((level.level, escape(level.factor)) for level in levels)
    told = ["Level {} should follow the {}".format(*first)]
    told += ["level {} the {}".format(*each) for each in others]
    return f" {', '.join(told)}."


def _sequence(demo: Demo, clip: Clip, number: int, scales: list[LogScale]) -> str:
    length = len(clip.frames)
    painted = strip(clip.reconstructions, f"the model's reconstruction of sequence {number}")
    rows = [
        ("", ruler(length)),
        ("video", strip(clip.frames, f"the {length} frames of sequence {number}")),
        *_lanes(demo, clip),
        ("reconstruction", painted),
    ]
    rows += [
        (_curve_label(demo, lv, scale), curves(lv, scale, _changes(clip, lv)))
        for lv, scale in zip(clip.levels, scales, strict=True)
    ]
    return film(number, rows, tips(demo, clip), _summary(clip), _still(demo, clip))


def _changes(clip: Clip, level: Detections) -> tuple[int, ...]:
    return frames_of(clip.changes[level.factor]) if level.factor else ()


def _lanes(demo: Demo, clip: Clip) -> list[tuple[str, str]]:
    """Under the changes of each factor, if any are known, the levels that should follow it."""
    rows: list[tuple[str, str]] = []
    for factor in dict.fromkeys(level.factor for level in clip.levels):
        if factor:
            rows += [(f"{escape(factor)} changes", truth_lane(factor, clip.changes[factor]))]
        rows += [
            (f"level {level_name(demo, lv.level, factor)} events", level_lane(clip, lv))
            for lv in clip.levels
            if lv.factor == factor
        ]
    return rows


def _curve_label(demo: Demo, level: Detections, scale: LogScale) -> str:
    name = level_name(demo, level.level, level.factor)
    return fill("demo/curves.html", level=name, axis=axis(scale, AXIS))


def _summary(clip: Clip) -> str:
    parts = []
    for level in clip.levels:
        if not level.factor:
            parts.append(f"level {level.level}: {len(level.boundaries)} events")
            continue
        found, missed, false = (len(frames) for frames in level.outcome)
        parts.append(
            f"level {level.level} found {found} of {found + missed} {escape(level.factor)} "
            f"changes, {false} false · F1 {level.scores.f1:.2f}"
        )
    return "<br>".join(parts)


def _still(demo: Demo, clip: Clip) -> str:
    """What is the same in all frames of this sequence, said once."""
    told = (
        f"{escape(name)} {value(demo.dataset, name, clip.factors[name], 0)}" for name in still(demo)
    )
    line = " · ".join(told)
    return f"<p>{line}</p>" if line else ""
