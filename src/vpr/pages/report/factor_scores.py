"""Which factor each level represents: scores of its events and probes of its state, as tables."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import NamedTuple

import numpy as np

from vpr.evaluation import probe_scores, random_like, score
from vpr.pages.factors import single_factors
from vpr.pages.report.observe import Observations


class FactorScores(NamedTuple):
    """Scores of one factor for each level, level 1 first."""

    name: str
    change_rate: float  # share of frames, without the first
    f1: tuple[float, ...]  # events against changes, at the exact frame
    chance: tuple[float, ...]  # the same, for the same number of events at random frames
    probe: tuple[float, ...]  # share that a probe predicts from the mean of the level


def factor_scores(observed: Observations, seed: int) -> list[FactorScores]:
    names = single_factors(observed.changes)
    marks = [level.boundary for level in observed.levels]
    random = [random_like(each, np.random.default_rng(seed)) for each in marks]
    values = {name: observed.factors[name] for name in names}
    shares = [probe_scores(level.mean, values) for level in observed.levels]
    return [
        FactorScores(
            name=name,
            change_rate=float(observed.changes[name][:, 1:].mean()),
            f1=tuple(score(each, observed.changes[name]).f1 for each in marks),
            chance=tuple(score(each, observed.changes[name]).f1 for each in random),
            probe=tuple(share[name] for share in shares),
        )
        for name in names
    ]


Cell = Callable[[FactorScores, int], tuple[float, str] | None]  # value in [0, 1], and markup to add


def factor_tables(factors: list[FactorScores]) -> str:
    if not factors:
        return f'<p class="quiet">{UNLABELLED}</p>'
    return (
        '<div class="pair">'
        + _table(factors, "Events of a level and changes of a factor", EVENTS, _event)
        + _table(factors, "State of a level and value of a factor", STATES, _state)
        + "</div>"
    )


UNLABELLED = "These sequences have no labels; compare the events with the sequences below."
EVENTS = "F1 at the exact frame. Small: F1 of as many events at random frames."
STATES = (
    "Share of the factor that a quadratic probe predicts from the level’s mean in held-out "
    "sequences: R² for numbers, reduction of errors for classes."
)


def _table(factors: list[FactorScores], title: str, words: str, cell: Cell) -> str:
    levels = range(len(factors[0].f1))
    head = "".join(f'<th scope="col">level {n + 1}</th>' for n in levels)
    rows = "".join(_row(factor, [cell(factor, n) for n in levels]) for factor in factors)
    return (
        f'<figure class="heat"><figcaption><b>{title}</b> {words}</figcaption>'
        f"<table><thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table></figure>"
    )


def _row(factor: FactorScores, cells: list[tuple[float, str] | None]) -> str:
    shown = "".join(_cell(*each) if each else '<td class="none">–</td>' for each in cells)
    return f'<tr><th scope="row">{escape(factor.name)}</th>{shown}</tr>'


def _cell(value: float, more: str) -> str:
    strong = ' class="strong"' if value >= 0.5 else ""
    return f'<td{strong} style="--v:{100 * value:.0f}%">{value:.2f}{more}</td>'


def _event(factor: FactorScores, n: int) -> tuple[float, str] | None:
    """None for a factor that never changes."""
    return (factor.f1[n], f"<small>{factor.chance[n]:.2f}</small>") if factor.change_rate else None


def _state(factor: FactorScores, n: int) -> tuple[float, str]:
    return factor.probe[n], ""
