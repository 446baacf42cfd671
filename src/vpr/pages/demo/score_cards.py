"""The scores of each level, and the legend of the marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from vpr.events import Kind
from vpr.pages.demo.demo_run import Demo, scores_of
from vpr.pages.demo.summary_table import summary_row
from vpr.pages.sequence_data import LevelDecisions
from vpr.pages.sequence_marks import change, cross, disc, ring
from vpr.pages.svg import tag
from vpr.pages.templates import fill


def score_cards(demo: Demo) -> str:
    """A card for each level."""
    return "".join(_card(demo, levels) for levels in demo.levels)


def level_name(demo: Demo, level: int, factor: str) -> str:
    """The number of a level, with the factor that it should follow if there are several levels."""
    return f"{level} · {escape(factor)}" if factor and len(demo.levels) > 1 else str(level)


def legend(factors: str) -> str:
    """Shapes and colours of the marks. `factors` is markup; without it, all events are discs."""
    shapes = (
        (change(8, 8), f"the {factors} truly changes"),
        (disc(8, 8, "expected"), "event found"),
        (cross(8, 8, "expected"), "false event"),
        (ring(8, 8), "change missed"),
    )
    colours = (
        (disc(8, 8, "expected"), "expected: the predicted next event fits better (CE)"),
        (disc(8, 8, "unexpected"), "unexpected: a larger change than usual (CU)"),
        (disc(8, 8, "both"), "both"),
    )
    return (_entries("shape", shapes) if factors else "") + _entries("colour", colours)


def _card(demo: Demo, levels: Sequence[LevelDecisions]) -> str:
    """The scores of one level in all clips, and its number of events of each kind."""
    row, scores = summary_row(None, levels), scores_of(levels)
    measures: tuple[tuple[str, float], ...] = (
        ("F1", scores.f1),
        ("precision", scores.precision),
        ("recall", scores.recall),
    )
    outcomes: tuple[tuple[str, int], ...] = (
        (f"{escape(row.factor)} changes", row.changes),
        ("found", row.found),
        ("missed", row.missed),
        ("false", row.false),
    )
    if not row.factor:
        measures, outcomes = (), (("events", row.detected),)
    kinds: tuple[tuple[Kind, str, int], ...] = (
        ("expected", "expected (CE)", row.expected),
        ("unexpected", "unexpected (CU)", row.unexpected),
        ("both", "both", row.both),
        ("clock", "fixed clock", row.clock),
    )
    return fill(
        "demo/score_card.html",
        level=level_name(demo, row.level, row.factor),
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


def _entries(name: str, entries: Iterable[tuple[str, str]]) -> str:
    items = "".join(f"<li>{_icon(mark)}{text}</li>" for mark, text in entries)
    return f"<ul><li><b>{name}</b></li>{items}</ul>"


def _icon(mark: str) -> str:
    return tag("svg", mark, width=16, height=16, aria_hidden="true")
