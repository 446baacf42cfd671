"""The demo as one HTML file that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from importlib import resources
from string import Template

from vpr.boundaries import Kind
from vpr.demo.curves import LogScale, axis, curves
from vpr.demo.layout import CELL, FRAME
from vpr.demo.marks import change, cross, disc, level_lane, ring, ruler, truth_lane
from vpr.demo.run import Clip, Demo
from vpr.demo.strips import strip
from vpr.demo.svg import tag
from vpr.demo.table import Row, pooled_rows
from vpr.demo.tips import tips
from vpr.evaluation import Scores

AXIS = 44  # width of the ticks' numbers


def page(demo: Demo) -> str:
    scales = [LogScale.over(levels) for levels in zip(*(c.levels for c in demo.clips), strict=True)]
    return _fill(
        "template.html",
        style=_read("style.css"),
        script=_read("hover.js"),
        dataset=escape(demo.dataset),
        factor=escape(demo.factor),
        clips=str(len(demo.clips)),
        length=str(len(demo.clips[0].true)),
        seed=str(demo.seed),
        numbers="".join(
            _numbers(demo, row, scores)
            for row, scores in zip(pooled_rows(demo), demo.pooled, strict=True)
        ),
        legend=_legend(demo.factor),
        sequences="".join(
            _sequence(demo, clip, number, scales) for number, clip in enumerate(demo.clips, start=1)
        ),
    )


def _numbers(demo: Demo, row: Row, scores: Scores) -> str:
    """The pooled scores of one level, and how many events of each kind it had."""
    measures = (("F1", scores.f1), ("precision", scores.precision), ("recall", scores.recall))
    outcomes = (
        (f"{escape(demo.factor)} changes", row.changes),
        ("found", row.found),
        ("missed", row.missed),
        ("false", row.false),
    )
    kinds: tuple[tuple[Kind, str, int], ...] = (
        ("expected", "expected (CE)", row.expected),
        ("unexpected", "unexpected (CU)", row.unexpected),
        ("both", "both", row.both),
        ("clock", "by the clock", row.clock),
    )
    return _fill(
        "numbers.html",
        level=str(row.level),
        scores=_tiles((name, f"{value:.2f}") for name, value in measures),
        outcomes=_tiles((name, str(count)) for name, count in outcomes),
        kinds=_tiles(
            (name, _icon(disc(8, 8, kind)) + str(count))
            for kind, name, count in kinds
            if count or kind != "clock"
        ),
    )


def _tiles(values: Iterable[tuple[str, str]]) -> str:
    return "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in values)


def _legend(factor: str) -> str:
    """Shapes, then colours: the two say different things."""
    shapes = (
        (change(8, 8), f"the {escape(factor)} truly changes"),
        (disc(8, 8, "expected"), "event found"),
        (cross(8, 8, "expected"), "false event"),
        (ring(8, 8), "change missed"),
    )
    colours = (
        (disc(8, 8, "expected"), "expected: the forecast fits better (CE)"),
        (disc(8, 8, "unexpected"), "unexpected: more than usual (CU)"),
        (disc(8, 8, "both"), "both"),
    )
    return _entries("shape", shapes) + _entries("colour", colours)


def _entries(name: str, entries: Iterable[tuple[str, str]]) -> str:
    items = "".join(f"<li>{_icon(mark)}{text}</li>" for mark, text in entries)
    return f"<ul><li><b>{name}</b></li>{items}</ul>"


def _icon(mark: str) -> str:
    return tag("svg", mark, width=16, height=16, aria_hidden="true")


def _sequence(demo: Demo, clip: Clip, number: int, scales: list[LogScale]) -> str:
    length = len(clip.true)
    rows = [
        ("", ruler(length)),
        ("video", strip(clip.frames, f"the {length} frames of sequence {number}")),
        (f"{escape(demo.factor)} changes", truth_lane(clip, demo.factor)),
    ]
    rows += [(f"level {lv.level} events", level_lane(clip, lv)) for lv in clip.levels]
    painted = strip(clip.reconstructions, f"the model's reconstruction of sequence {number}")
    rows += [("reconstruction", painted)]
    rows += [
        (_curve_label(lv.level, scale), curves(clip, lv, scale))
        for lv, scale in zip(clip.levels, scales, strict=True)
    ]
    return _fill(
        "sequence.html",
        number=str(number),
        summary=_summary(demo, clip),
        rows="".join(f'<div class="label">{label}</div>{lane}' for label, lane in rows),
        # "</" would end the script that carries it
        tips=json.dumps(tips(demo, clip), ensure_ascii=False).replace("</", "<\\/"),
        cell=str(CELL),
        frame=str(FRAME),
    )


def _curve_label(level: int, scale: LogScale) -> str:
    return _fill("curves.html", level=str(level), axis=axis(scale, AXIS))


def _summary(demo: Demo, clip: Clip) -> str:
    parts = []
    for level in clip.levels:
        found, missed, false = (len(frames) for frames in level.outcome)
        parts.append(
            f"level {level.level} found {found} of {found + missed} {escape(demo.factor)} changes, "
            f"{false} false · F1 {level.scores.f1:.2f}"
        )
    return "<br>".join(parts)


def _fill(name: str, **values: str) -> str:
    return Template(_read(name)).substitute(values)


def _read(name: str) -> str:
    return (resources.files("vpr.demo") / name).read_text(encoding="utf-8")
