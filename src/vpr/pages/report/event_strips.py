"""Sequences with a bar for each event of each level, and the values compared."""

from __future__ import annotations

from html import escape
from itertools import pairwise

from vpr.pages.factors import factor_value, readable_factors, single_factors
from vpr.pages.frame_strip import downscaled, strip
from vpr.pages.report.report_run import Report
from vpr.pages.sequence_curves import LogScale, curve_label, curves
from vpr.pages.sequence_data import LevelDecisions, SequenceData
from vpr.pages.sequence_marks import disc, guides, listed, ruler, truth_lane
from vpr.pages.sequence_view import CELL, LANE, centre, evidence_rows, sequence_view, tip
from vpr.pages.svg import drawing, tag

BAR = 14  # height of an event


def event_strips(report: Report) -> str:
    shown = report.observed.shown
    scales = [LogScale.over(levels) for levels in zip(*(s.levels for s in shown), strict=True)]
    return "".join(_strip(report, each, n, scales) for n, each in enumerate(shown, start=1))


def _strip(report: Report, shown: SequenceData, number: int, scales: list[LogScale]) -> str:
    length = report.length
    video = strip(downscaled(shown.frames), f"the {length} frames of sequence {number}")
    decoded = strip(
        downscaled(shown.reconstruction), f"the model's reconstruction of sequence {number}"
    )
    truth = [
        (f"{escape(name)} changes", truth_lane(name, shown.changes[name]))
        for name in _changing_factors(report)
    ]
    rows = [("", ruler(length)), ("video", video), ("reconstruction", decoded), *truth]
    rows += [(f"level {level.level} events", _lane(level, length)) for level in shown.levels]
    rows += [
        (curve_label(str(level.level), scale), curves(level, scale))
        for level, scale in zip(shown.levels, scales, strict=True)
    ]
    counts = (f"level {lv.level}: {len(lv.boundaries)} events" for lv in shown.levels)
    return sequence_view(number, rows, _tips(report, shown), " · ".join(counts))


def _lane(level: LevelDecisions, length: int) -> str:
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
    return drawing(guides(level.changes, LANE) + bars + discs, CELL * length, LANE, label)


def _changing_factors(report: Report) -> list[str]:
    """Factors that get a row: those that sometimes, but not always, change."""
    rates = {factor.name: factor.change_rate for factor in report.factors}
    return [name for name in single_factors(report.observed.changes) if 0 < rates[name] < 1]


def _tips(report: Report, shown: SequenceData) -> list[str]:
    factors, names = shown.factors, readable_factors(shown.factors)
    return [
        tip(
            t,
            [(escape(name), factor_value(report.dataset, name, factors[name], t)) for name in names]
            + _evidence(shown, t),
        )
        for t in range(report.length)
    ]


def _evidence(shown: SequenceData, t: int) -> list[tuple[str, str]]:
    return [
        row
        for level in shown.levels
        for row in [(f"<i>level {level.level}</i>", ""), *evidence_rows(level, t)]
    ]
