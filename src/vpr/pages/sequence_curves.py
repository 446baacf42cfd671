"""Curves of D_st, D_ch and the threshold of CU over time, on a log scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.pages.sequence_data import Curve, LevelDecisions
from vpr.pages.sequence_marks import CSS_CLASS, guides
from vpr.pages.sequence_view import AXIS, CELL, CURVES, centre
from vpr.pages.svg import drawing, tag
from vpr.pages.templates import fill

MARGIN = 14  # above and below the outermost values
DECADES = 5  # below the largest value; smaller values are drawn at the bottom


class LogScale(NamedTuple):
    """Maps values to y, given log10 of the smallest and of the largest."""

    low: float
    high: float

    @classmethod
    def over(cls, levels: Iterable[LevelDecisions]) -> LogScale:
        """One scale for the same level of all sequences, so that they can be compared."""
        values = np.concatenate([[lv.kl_static, lv.kl_change, lv.threshold] for lv in levels], 1)
        return cls.of(values)

    @classmethod
    def of(cls, values: NDArray[np.floating[Any]]) -> LogScale:
        """The scale of all values that are finite and above 0."""
        values = values[np.isfinite(values) & (values > 0)]
        if not values.size:
            return cls(-1.0, 1.0)
        low, high = float(np.log10(values.min())), float(np.log10(values.max()))
        return cls(max(min(low, high - 0.5), high - DECADES), high)

    def y(self, value: float) -> float:
        share = (math.log10(max(value, 10**self.low)) - self.low) / (self.high - self.low)
        return CURVES - MARGIN - share * (CURVES - 2 * MARGIN)

    def ticks(self) -> list[float]:
        """Powers of ten, or a finer division if fewer than three fit."""
        for steps in ((1,), (1, 3), (1, 2, 5)):
            decades = range(math.floor(self.low), math.ceil(self.high) + 1)
            ticks = [step * 10.0**k for k in decades for step in steps]
            ticks = [tick for tick in ticks if self.low <= math.log10(tick) <= self.high]
            if len(ticks) >= 3:
                break
        return ticks


def curves(level: LevelDecisions, scale: LogScale) -> str:
    """The curves of a level, with a hairline at every true change."""
    length = len(level.kl_static)
    width = CELL * length
    grid = "".join(
        tag("line", x1=0, x2=width, y1=scale.y(v), y2=scale.y(v), class_="grid")
        for v in scale.ticks()
    )
    lines = (
        _stairs(level.threshold, scale)
        + _line(level.kl_change, scale, "ch")
        + _line(level.kl_static, scale, "st")
    )
    label = (
        f"level {level.level}: D_st, D_ch and the threshold of CU over {length} frames, "
        "log scale; values on hover"
    )
    edge = tag("line", x1=0, x2=width, y1=0.5, y2=0.5, class_="grid")
    content = _bands(level) + edge + grid + guides(level.changes, CURVES) + (lines or _no_curves())
    return drawing(content, width, CURVES, label)


def curve_label(level: str, scale: LogScale) -> str:
    """The label of a level's curves: colours, and the numbers of the axis."""
    numbers = "".join(
        tag("text", f"{value:g}", x=AXIS - 6, y=scale.y(value) + 4, class_="tick")
        for value in scale.ticks()
    )
    axis = drawing(numbers, AXIS, CURVES, "KL divergence in nats, log scale")
    return fill("curve_label.html", level=level, axis=axis)


def _bands(level: LevelDecisions) -> str:
    """A tinted column wherever the level updated."""
    return "".join(
        tag(
            "rect",
            x=b.frame * CELL,
            y=0,
            width=CELL,
            height=CURVES,
            class_=f"band {CSS_CLASS[b.kind]}",
        )
        for b in level.boundaries
    )


def _line(curve: Curve, scale: LogScale, name: str) -> str:
    """Straight lines between frames, and a dot on each frame to show single values."""
    lines = ""
    for run in _runs(curve):
        points = [(centre(t), scale.y(float(curve[t]))) for t in run]
        path = " ".join(f"{x:g},{y:.1f}" for x, y in points)
        lines += tag("polyline", points=path, class_=f"curve {name}")
        lines += "".join(tag("circle", cx=x, cy=y, r=2.2, class_=f"dot {name}") for x, y in points)
    return lines


def _stairs(curve: Curve, scale: LogScale) -> str:
    """A step function, because a threshold applies to one frame."""
    stairs = ""
    for run in _runs(curve):
        steps = " ".join(f"V{scale.y(float(curve[t])):.1f}H{(t + 1) * CELL}" for t in run)
        start = f"M{run[0] * CELL} {scale.y(float(curve[run[0]])):.1f}"
        stairs += tag("path", d=start + steps, class_="curve cu")
    return stairs


def _runs(curve: Curve) -> Iterator[range]:
    """Unbroken ranges of frames with finite values."""
    finite = np.concatenate([[False], np.isfinite(curve), [False]])
    starts, ends = (
        np.flatnonzero(finite[1:] & ~finite[:-1]),
        np.flatnonzero(~finite[1:] & finite[:-1]),
    )
    yield from (range(a, b) for a, b in zip(starts.tolist(), ends.tolist(), strict=True))


def _no_curves() -> str:
    return tag("text", "this level was never evaluated", x=CELL, y=CURVES / 2, class_="no-data")
