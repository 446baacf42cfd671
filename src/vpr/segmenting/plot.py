"""A timeline as a figure of matplotlib: one row a level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vpr.experiments.figures import BOTH, CE, CU, GREY, panels, require_matplotlib
from vpr.segmenting.timeline import Curves, Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"expected": CE, "unexpected": CU, "both": BOTH, "clock": GREY}


def plot(timeline: Timeline) -> Figure:
    """Events as upright lines, in the colour of what decided, over D_st, D_ch and threshold."""
    require_matplotlib()
    levels, start = timeline.reported, float(timeline.start)
    with panels(1, len(levels), width=11.0, height=2.4) as (figure, rows):
        for axes, level in zip(rows, reversed(levels), strict=True):  # slow above fast
            if level in timeline.curves:
                _draw_curves(axes, timeline, timeline.curves[level])
            _draw_events(axes, timeline, level)
            axes.set_title(f"level {level}", loc="left")
            axes.set_xlim(start, max(float(timeline.end), start + 0.04))
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.05), fontsize=9)
        rows[-1].set_xlabel("seconds")
        figure.suptitle(f"{timeline.source}, watched by {timeline.model}", fontsize=12)
    return figure


def _draw_curves(axes: Axes, timeline: Timeline, curves: Curves) -> None:
    """Points, as a level that was not asked at a frame compared nothing there."""
    names = {"D_st": (curves.kl_static, "black"), "D_ch": (curves.kl_change, "#e69f00")}
    for name, (values, colour) in names.items():
        axes.plot(
            timeline.times, values, ".-", color=colour, label=name, linewidth=0.8, markersize=2
        )
    axes.plot(timeline.times, curves.threshold, color=GREY, linewidth=1, label="threshold")
    axes.set_yscale("log", nonpositive="mask")


def _draw_events(axes: Axes, timeline: Timeline, level: int) -> None:
    events = timeline.events(level)
    for kind, colour in COLOURS.items():
        times = [float(event.time) for event in events if event.kind == kind]
        for place, time in enumerate(times):
            label = f"{kind}: {len(times)}" if place == 0 else None
            axes.axvline(time, color=colour, alpha=0.5, linewidth=1.4, label=label)
