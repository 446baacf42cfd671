"""Sequences with a bar for each event of each level, and the values compared."""

from __future__ import annotations

from html import escape
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vpr.data import Batch, factor_of
from vpr.pages.factor_names import readable_factors, single_factors
from vpr.pages.factor_values import factor_value
from vpr.pages.frame_strip import downscaled, strip
from vpr.pages.level_decisions import LevelDecisions, frames_of
from vpr.pages.report.observe import Clip
from vpr.pages.report.report_run import Report
from vpr.pages.sequence_curves import LogScale, curve_label, curves
from vpr.pages.sequence_layout import CELL, LANE, centre
from vpr.pages.sequence_marks import disc, guides, listed, ruler, truth_lane
from vpr.pages.sequence_tips import evidence_rows, tip
from vpr.pages.sequence_view import sequence_view
from vpr.pages.svg import drawing, tag

BAR = 14  # height of an event


def event_strips(report: Report) -> str:
    clips = report.observed.clips
    scales = [LogScale.over(levels) for levels in zip(*(c.levels for c in clips), strict=True)]
    return "".join(_strip(report, i, scales) for i in range(len(clips)))


def _strip(report: Report, i: int, scales: list[LogScale]) -> str:
    clip, length = report.observed.clips[i], report.length
    video = strip(downscaled(clip.frames), f"the {length} frames of sequence {i + 1}")
    decoded = strip(
        downscaled(clip.reconstructions), f"the model's reconstruction of sequence {i + 1}"
    )
    truth = [
        (f"{escape(name)} changes", truth_lane(name, _changed(report, name, i)))
        for name in _changing_factors(report)
    ]
    guided = [_guided(report, level.level, i) for level in clip.levels]
    rows = [("", ruler(length)), ("video", video), ("reconstruction", decoded), *truth]
    rows += [
        (f"level {level.level} events", _lane(level, length, lines))
        for level, lines in zip(clip.levels, guided, strict=True)
    ]
    rows += [
        (curve_label(str(level.level), scale), curves(level, scale, lines))
        for level, scale, lines in zip(clip.levels, scales, guided, strict=True)
    ]
    counts = (f"level {lv.level}: {len(lv.boundaries)} events" for lv in clip.levels)
    return sequence_view(i + 1, rows, _tips(report, i), " · ".join(counts))


def _lane(level: LevelDecisions, length: int, changes: tuple[int, ...]) -> str:
    """A bar for each event, and a disc at its start in the colour of the criterion."""
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


def _changing_factors(report: Report) -> list[str]:
    """Factors that get a row: those that sometimes, but not always, change."""
    rates = {factor.name: factor.change_rate for factor in report.factors}
    return [name for name in single_factors(report.observed.changes) if 0 < rates[name] < 1]


def _guided(report: Report, level: int, i: int) -> tuple[int, ...]:
    """Changes of the factor that a level should follow; empty without labels."""
    changes = report.observed.changes
    if not changes:
        return ()
    empty = np.zeros(0, np.float32)
    return frames_of(_changed(report, factor_of(level, Batch(empty, {}, changes)), i))


def _changed(report: Report, name: str, i: int) -> NDArray[np.bool_]:
    changed: NDArray[np.bool_] = report.observed.changes[name][i]
    return changed


def _tips(report: Report, i: int) -> list[str]:
    factors = {name: values[i] for name, values in report.observed.factors.items()}
    shown = readable_factors(factors)
    return [
        tip(
            t,
            [(escape(name), factor_value(report.dataset, name, factors[name], t)) for name in shown]
            + _evidence(report.observed.clips[i], t),
        )
        for t in range(report.length)
    ]


def _evidence(clip: Clip, t: int) -> list[tuple[str, str]]:
    return [
        row
        for level in clip.levels
        for row in [(f"<i>level {level.level}</i>", ""), *evidence_rows(level, t)]
    ]
