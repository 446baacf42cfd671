"""A timeline as a matplotlib figure with one row per level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vpr.pages.palette import D_CH, D_ST, KINDS, THRESHOLD, Colour
from vpr.segmenting.timeline import Curves, Series, Timeline
from vpr.utils.figures import panels, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_FULL_LINES = 80  # with more events in a level, lines do not extend through the whole row


def plot(timeline: Timeline) -> Figure:
    """Events as vertical lines in the colour of their criterion, over D_st, D_ch and threshold."""
    require_matplotlib()
    levels, start = timeline.reported_levels, float(timeline.start)
    with panels(1, len(levels), width=11.0, height=2.4) as (figure, rows):
        for axes, level in zip(rows, reversed(levels), strict=True):  # the slowest at the top
            if level in timeline.curves:
                _draw_curves(axes, timeline, timeline.curves[level])
            _draw_events(axes, timeline, level)
            axes.set_ylabel(f"level {level}")
            axes.set_xlim(start, max(float(timeline.end), start + 0.04))
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.05), fontsize=9)
        rows[-1].set_xlabel("seconds")
        figure.suptitle(f"{timeline.source}, model {timeline.model}", fontsize=12)
    return figure


def _draw_curves(axes: Axes, timeline: Timeline, curves: Curves) -> None:
    """Lines with points, because a level has no values where it was not evaluated."""
    lines: dict[str, tuple[Series, Colour]] = {
        "D_st": (curves.kl_static, D_ST),
        "D_ch": (curves.kl_change, D_CH),
        "threshold": (curves.threshold, THRESHOLD),
    }
    for name, (values, colour) in lines.items():
        axes.plot(timeline.times, values, ".-", color=colour.light, label=name, lw=0.7, ms=2)
    axes.set_yscale("log", nonpositive="mask")
    axes.set_ylim(top=3 * axes.get_ylim()[1])  # for the marks


def _draw_events(axes: Axes, timeline: Timeline, level: int) -> None:
    """A mark at the top for each event, and a faint line below it if there are few."""
    events = timeline.events(level)
    for kind, colour in KINDS.items():
        times = [float(event.time) for event in events if event.kind == kind]
        if times:
            top = axes.get_xaxis_transform()  # x in seconds, y as a share of the height
            label = f"{kind}: {len(times)}"
            axes.vlines(times, 0.92, 1.0, color=colour.light, transform=top, label=label)
            if len(events) <= MAX_FULL_LINES:
                axes.vlines(times, 0, 0.92, color=colour.light, transform=top, alpha=0.3, zorder=0)
