"""The levels under each other: how often each updates, for how long it holds, and why."""

from __future__ import annotations

from vpr.boundaries import Kind
from vpr.report.levels import Level
from vpr.report.words import duration, number, percent

KINDS: dict[Kind, str] = {
    "expected": "expected (CE)",
    "both": "both",
    "unexpected": "unexpected (CU)",
    "clock": "by the clock",
}
HEAD = ("level", "updates", "an event lasts", "what decides", "KL, nats a frame")


def glance(levels: list[Level]) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in HEAD)
    rows = "".join(_row(level) for level in levels)
    return f'<table class="glance"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _row(level: Level) -> str:
    rate = percent(level.update_rate)
    bar = f'<span class="bar"><i style="width:{100 * level.update_rate:.1f}%"></i></span>'
    cells = (bar + rate, duration(level.lengths), _decided(level), number(level.kl))
    row = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr><th scope="row">{level.level}</th>{row}</tr>'


def _decided(level: Level) -> str:
    """Level 1 asks nobody, and a level that never updates had no reason."""
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
