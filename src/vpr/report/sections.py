"""A section for each level: its futures, its draws, and what it compares."""

from __future__ import annotations

from html import escape
from typing import Any

from vpr.demo.templates import fill
from vpr.films import Strip
from vpr.report.levels import Key, Level
from vpr.report.reels import reel
from vpr.report.run import Report
from vpr.report.words import number


def sections(report: Report) -> str:
    return "".join(_section(report, n) for n in range(len(report.levels)))


def _section(report: Report, n: int) -> str:
    level, facts = report.levels[n], report.rollouts.facts["levels"][n]
    truth, jumps = report.rollouts.groups[n]
    draws = report.samples.groups[0][1 + n]
    others = "while all others hold" if len(report.levels) > 1 else "after the last frame seen"
    return fill(
        "report/level.html",
        level=str(level.level),
        summary=_summary(report, n),
        truth=_reel(truth, jumps, "What really came", _really(facts)),
        jumps=_reel(
            jumps, jumps, "Rollout", f"level {level.level} jumps to its next events {others}"
        ),
        draws=_reel(draws, draws, "Samples", f"level {level.level} is drawn anew {others}"),
        keys=_keys(level),
    )


def _reel(strip: Strip, longest: Strip, title: str, words: str) -> str:
    return reel(strip.frames, len(longest.frames), title, words)


def _really(facts: dict[str, Any]) -> str:
    if facts["level"] == 1 or facts["factor"] is None:
        return "the next frames"
    return f"the frames at which the {escape(facts['factor'])} changes next"


def _summary(report: Report, n: int) -> str:
    """What fits best; nothing without labels."""
    if not report.factors:
        return ""
    told = max(report.factors, key=lambda factor: factor.told[n])
    words = f"its state tells the {escape(told.name)} best ({told.told[n]:.2f})"
    if n == 0:  # updates at every frame
        return words
    found = max(report.factors, key=lambda factor: factor.f1[n])
    events = f"its events are most like changes of the {escape(found.name)}"
    return f"{events} (F1 {found.f1[n]:.2f}), {words}"


def _keys(level: Level) -> str:
    if level.level == 1:
        return '<p class="quiet">Level 1 updates at every frame and compares nothing.</p>'
    rows = _key("at events", level.at_events) + _key("between", level.between)
    return fill("report/keys.html", rows=rows)


def _key(name: str, key: Key) -> str:
    values = (key.kl_static, key.kl_change, key.threshold)
    cells = "".join(f"<td>{number(value)}</td>" for value in values)
    return f'<tr><th scope="row">{name}</th>{cells}<td class="quiet">{key.frames:,}</td></tr>'
