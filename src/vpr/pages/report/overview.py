"""The overview table: update rate, length of events, criteria and KL of each level."""

from __future__ import annotations

from vpr.evaluation import EventLengths
from vpr.events import Kind
from vpr.pages.report.level_statistics import LevelStatistics

KINDS: dict[Kind, str] = {
    "expected": "expected (CE)",
    "both": "both",
    "unexpected": "unexpected (CU)",
    "clock": "fixed clock",
}
HEAD = ("level", "update rate", "length of events", "criterion", "KL, nats per frame")


def overview(levels: list[LevelStatistics]) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in HEAD)
    rows = "".join(_row(level) for level in levels)
    return f'<table class="overview"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _row(level: LevelStatistics) -> str:
    rate = percent(level.update_rate)
    bar = f'<span class="bar"><i style="width:{100 * level.update_rate:.1f}%"></i></span>'
    cells = (bar + rate, duration(level.lengths), _criteria(level), number(level.kl))
    row = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr><th scope="row">{level.level}</th>{row}</tr>'


def _criteria(level: LevelStatistics) -> str:
    """The share of each criterion in the events of a level."""
    if level.level == 1:
        return '<span class="quiet">every frame</span>'
    present = {kind: share for kind, share in level.kinds.items() if share}
    if not present:
        return '<span class="quiet">never updates</span>'
    parts = "".join(
        f'<i class="{kind}" style="width:{100 * share:.1f}%"></i>'
        for kind, share in present.items()
    )
    words = ", ".join(f"{KINDS[kind]} {percent(share)}" for kind, share in present.items())
    return f'<span class="stack">{parts}</span><span class="quiet">{words}</span>'


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
