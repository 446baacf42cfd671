"""Factors against levels, as two tables whose cells are the darker the more there is."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from vpr.report.factors import Factor

Cell = Callable[[Factor, int], tuple[float, str] | None]  # value in [0, 1], and what to add


def heat(factors: list[Factor]) -> str:
    if not factors:
        return f'<p class="quiet">{UNLABELLED}</p>'
    return (
        '<div class="pair">'
        + _table(factors, "Whose changes are a level’s events?", EVENTS, _event)
        + _table(factors, "What does a level’s state tell?", STATES, _state)
        + "</div>"
    )


UNLABELLED = "Nothing is labelled in these sequences, so this is for your eyes to tell, below."
EVENTS = "F1 at the exact frame; small, that of as many events placed at random."
STATES = (
    "Share of the factor that a quadratic probe reads from the level’s mean, in sequences it did "
    "not learn from: R² of numbers, mistakes avoided of classes."
)


def _table(factors: list[Factor], title: str, words: str, cell: Cell) -> str:
    levels = range(len(factors[0].f1))
    head = "".join(f'<th scope="col">level {n + 1}</th>' for n in levels)
    rows = "".join(_row(factor, [cell(factor, n) for n in levels]) for factor in factors)
    return (
        f'<figure class="heat"><figcaption><b>{title}</b> {words}</figcaption>'
        f"<table><thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table></figure>"
    )


def _row(factor: Factor, cells: list[tuple[float, str] | None]) -> str:
    shown = "".join(_cell(*each) if each else '<td class="none">–</td>' for each in cells)
    return f'<tr><th scope="row">{escape(factor.name)}</th>{shown}</tr>'


def _cell(value: float, more: str) -> str:
    strong = ' class="strong"' if value >= 0.5 else ""
    return f'<td{strong} style="--v:{100 * value:.0f}%">{value:.2f}{more}</td>'


def _event(factor: Factor, n: int) -> tuple[float, str] | None:
    """What never changes has no events."""
    return (factor.f1[n], f"<small>{factor.chance[n]:.2f}</small>") if factor.change_rate else None


def _state(factor: Factor, n: int) -> tuple[float, str]:
    return factor.told[n], ""
