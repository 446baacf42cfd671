"""D_st, D_ch and the threshold of CU over time on a log scale: the paper's key KL values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.demo.layout import CELL, CURVES, centre
from vpr.demo.marks import CRITERIA, guides
from vpr.demo.run import Curve, Decided
from vpr.demo.svg import drawing, tag

MARGIN = 14  # above and below the outermost values
DECADES = 5  # a KL can be nearly 0: what lies further below the largest sits on the floor


class LogScale(NamedTuple):
    """Values to y, from log10 of the smallest and of the largest."""

    low: float
    high: float

    @classmethod
    def over(cls, levels: Iterable[Decided]) -> LogScale:
        """For the same level of all sequences, so that they can be compared."""
        values = np.concatenate([[lv.kl_static, lv.kl_change, lv.threshold] for lv in levels], 1)
        return cls.of(values)

    @classmethod
    def of(cls, values: NDArray[np.floating[Any]]) -> LogScale:
        """As far as they are finite and above 0."""
        values = values[np.isfinite(values) & (values > 0)]
        if not values.size:
            return cls(-1.0, 1.0)
        low, high = float(np.log10(values.min())), float(np.log10(values.max()))
        return cls(max(min(low, high - 0.5), high - DECADES), high)

    def y(self, value: float) -> float:
        share = (math.log10(max(value, 10**self.low)) - self.low) / (self.high - self.low)
        return CURVES - MARGIN - share * (CURVES - 2 * MARGIN)

    def ticks(self) -> list[float]:
        """Powers of ten, or finer where fewer than three of them fit."""
        for steps in ((1,), (1, 3), (1, 2, 5)):
            decades = range(math.floor(self.low), math.ceil(self.high) + 1)
            ticks = [step * 10.0**k for k in decades for step in steps]
            ticks = [tick for tick in ticks if self.low <= math.log10(tick) <= self.high]
            if len(ticks) >= 3:
                break
        return ticks


def curves(level: Decided, scale: LogScale, changes: Sequence[int]) -> str:
    """With a hairline at every true change, as far as any are known."""
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
    content = _bands(level) + edge + grid + guides(changes, CURVES) + (lines or _silence())
    return drawing(content, width, CURVES, label)


def axis(scale: LogScale, width: float) -> str:
    """Values of the ticks, at the right edge of the film's labels."""
    numbers = "".join(
        tag("text", f"{value:g}", x=width - 6, y=scale.y(value) + 4, class_="tick")
        for value in scale.ticks()
    )
    return drawing(numbers, width, CURVES, "KL divergence in nats, log scale")


def _bands(level: Decided) -> str:
    """A tinted column wherever the level updated."""
    return "".join(
        tag(
            "rect",
            x=b.frame * CELL,
            y=0,
            width=CELL,
            height=CURVES,
            class_=f"band {CRITERIA[b.kind][0]}",
        )
        for b in level.boundaries
    )


def _line(curve: Curve, scale: LogScale, name: str) -> str:
    """Straight from frame to frame, with a dot on each: a lone value is seen too."""
    lines = ""
    for run in _runs(curve):
        points = [(centre(t), scale.y(float(curve[t]))) for t in run]
        path = " ".join(f"{x:g},{y:.1f}" for x, y in points)
        lines += tag("polyline", points=path, class_=f"curve {name}")
        lines += "".join(tag("circle", cx=x, cy=y, r=2.2, class_=f"dot {name}") for x, y in points)
    return lines


def _stairs(curve: Curve, scale: LogScale) -> str:
    """Level across each frame's column: a threshold holds for that frame alone."""
    stairs = ""
    for run in _runs(curve):
        steps = " ".join(f"V{scale.y(float(curve[t])):.1f}H{(t + 1) * CELL}" for t in run)
        start = f"M{run[0] * CELL} {scale.y(float(curve[run[0]])):.1f}"
        stairs += tag("path", d=start + steps, class_="curve cu")
    return stairs


def _runs(curve: Curve) -> Iterator[range]:
    """Frames in unbroken stretches of finite values."""
    finite = np.concatenate([[False], np.isfinite(curve), [False]])
    starts, ends = (
        np.flatnonzero(finite[1:] & ~finite[:-1]),
        np.flatnonzero(~finite[1:] & finite[:-1]),
    )
    yield from (range(a, b) for a, b in zip(starts.tolist(), ends.tolist(), strict=True))


def _silence() -> str:
    return tag("text", "no signal arrived at this level", x=CELL, y=CURVES / 2, class_="silence")
