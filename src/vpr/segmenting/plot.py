"""A timeline as a figure of matplotlib: one row a level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vpr.experiments.shared.panels import BOTH, CE, CU, GREY, panels, require_matplotlib
from vpr.segmenting.timeline import Curves, Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"expected": CE, "unexpected": CU, "both": BOTH, "clock": GREY}
FEW = 80


def plot(timeline: Timeline) -> Figure:
    """Events as upright lines, in the colour of what decided, over D_st, D_ch and threshold."""
    require_matplotlib()
    levels, start = timeline.reported, float(timeline.start)
    with panels(1, len(levels), width=11.0, height=2.4) as (figure, rows):
        for axes, level in zip(rows, reversed(levels), strict=True):  # slow above fast
            if level in timeline.curves:
                _draw_curves(axes, timeline, timeline.curves[level])
            _draw_events(axes, timeline, level)
            axes.set_ylabel(f"level {level}")
            axes.set_xlim(start, max(float(timeline.end), start + 0.04))
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.05), fontsize=9)
        rows[-1].set_xlabel("seconds")
        figure.suptitle(f"{timeline.source}, watched by {timeline.model}", fontsize=12)
    return figure


def _draw_curves(axes: Axes, timeline: Timeline, curves: Curves) -> None:
    """Points, as a level that was not asked at a frame compared nothing there."""
    lines = {
        "D_st": (curves.kl_static, "black"),
        "D_ch": (curves.kl_change, "#e69f00"),
        "threshold": (curves.threshold, GREY),
    }
    for name, (values, colour) in lines.items():
        axes.plot(timeline.times, values, ".-", color=colour, label=name, lw=0.7, ms=2)
    axes.set_yscale("log", nonpositive="mask")
    axes.set_ylim(top=3 * axes.get_ylim()[1])  # for the marks


def _draw_events(axes: Axes, timeline: Timeline, level: int) -> None:
    """A mark at the top each, and a faint line through them if there are few."""
    events = timeline.events(level)
    for kind, colour in COLOURS.items():
        times = [float(event.time) for event in events if event.kind == kind]
        if times:
            above = axes.get_xaxis_transform()  # seconds across, shares of the height upwards
            label = f"{kind}: {len(times)}"
            axes.vlines(times, 0.92, 1.0, color=colour, transform=above, label=label)
            if len(events) <= FEW:
                axes.vlines(times, 0.0, 0.92, color=colour, transform=above, alpha=0.3, zorder=0)
