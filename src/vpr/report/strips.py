"""Event strips: a few films, and under them from where to where each level's events last."""

from __future__ import annotations

from html import escape
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vpr.data import Batch, factor_of
from vpr.demo.curves import LogScale, axis, curves
from vpr.demo.factors import readable, whole
from vpr.demo.film import film
from vpr.demo.layout import CELL, LANE, centre
from vpr.demo.marks import disc, guides, listed, ruler, truth_lane
from vpr.demo.page import AXIS
from vpr.demo.run import frames_of
from vpr.demo.strips import strip
from vpr.demo.svg import drawing, tag
from vpr.demo.templates import fill
from vpr.demo.tips import evidence, tip
from vpr.demo.words import value
from vpr.report.run import Report
from vpr.report.small import small
from vpr.report.watch import Clip, Decisions

BAR = 14  # height of an event


def strips(report: Report) -> str:
    clips = report.watched.clips
    scales = [LogScale.over(levels) for levels in zip(*(c.levels for c in clips), strict=True)]
    return "".join(_strip(report, i, scales) for i in range(len(clips)))


def _strip(report: Report, i: int, scales: list[LogScale]) -> str:
    clip, length = report.watched.clips[i], report.length
    seen = strip(small(clip.frames), f"the {length} frames of sequence {i + 1}")
    painted = strip(small(clip.painted), f"the model's reconstruction of sequence {i + 1}")
    truth = [
        (f"{escape(name)} changes", truth_lane(name, _changed(report, name, i)))
        for name in _eventful(report)
    ]
    guided = [_guided(report, level.level, i) for level in clip.levels]
    rows = [("", ruler(length)), ("video", seen), ("reconstruction", painted), *truth]
    rows += [
        (f"level {level.level} events", _lane(level, length, lines))
        for level, lines in zip(clip.levels, guided, strict=True)
    ]
    rows += [
        (_label(level, scale), curves(level, scale, lines))
        for level, scale, lines in zip(clip.levels, scales, guided, strict=True)
    ]
    counts = (f"level {lv.level}: {len(lv.boundaries)} events" for lv in clip.levels)
    return film(i + 1, rows, _tips(report, i), " · ".join(counts))


def _lane(level: Decisions, length: int, changes: tuple[int, ...]) -> str:
    """A bar for each event, a disc where one began: its colour says by which criterion."""
    starts = [b.frame for b in level.boundaries]
    top = (LANE - BAR) / 2
    bars = "".join(
        tag(
            "rect",
            x=a * CELL + 1,
            y=top,
            width=(b - a) * CELL - 2,
            height=BAR,
            rx=BAR / 2,
            class_="event",
        )
        for a, b in pairwise([0, *starts, length])
    )
    discs = "".join(disc(centre(b.frame), LANE / 2, b.kind) for b in level.boundaries)
    label = f"level {level.level}: events begin at {listed(starts)}"
    return drawing(guides(changes, LANE) + bars + discs, CELL * length, LANE, label)


def _eventful(report: Report) -> list[str]:
    """Factors whose changes are worth a lane: not those that never or always change."""
    rates = {factor.name: factor.change_rate for factor in report.factors}
    return [name for name in whole(report.watched.changes) if 0 < rates[name] < 1]


def _guided(report: Report, level: int, i: int) -> tuple[int, ...]:
    """Changes of the factor that a level should follow, if anybody knows."""
    changes = report.watched.changes
    if not changes:
        return ()
    empty = np.zeros(0, np.float32)
    return frames_of(_changed(report, factor_of(level, Batch(empty, {}, changes)), i))


def _changed(report: Report, name: str, i: int) -> NDArray[np.bool_]:
    changed: NDArray[np.bool_] = report.watched.changes[name][i]
    return changed


def _label(level: Decisions, scale: LogScale) -> str:
    return fill("demo/curves.html", level=str(level.level), axis=axis(scale, AXIS))


def _tips(report: Report, i: int) -> list[str]:
    factors = {name: values[i] for name, values in report.watched.factors.items()}
    told = readable(factors)
    return [
        tip(
            t,
            [(escape(name), value(report.dataset, name, factors[name], t)) for name in told]
            + _evidence(report.watched.clips[i], t),
        )
        for t in range(report.length)
    ]


def _evidence(clip: Clip, t: int) -> list[tuple[str, str]]:
    return [
        row
        for level in clip.levels
        for row in [(f"<i>level {level.level}</i>", ""), *evidence(level, t)]
    ]
