"""Number formats of the report."""

from __future__ import annotations

from vpr.evaluation import EventLengths


def number(value: float | None) -> str:
    """Three digits, or a dash for None."""
    return "–" if value is None else f"{value:.3g}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.095 or not share else f"{100 * share:.1f} %"


def duration(lengths: EventLengths) -> str:
    """The mean length; marked as an estimate if the longest events were all cut off."""
    if not lengths.events:
        return "–"
    about = "≈ " if lengths.longer[-1] else ""
    return f"{about}{lengths.mean:.1f} frames"
