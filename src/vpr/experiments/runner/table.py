"""Tables of measurements as Markdown: of one experiment, and the main results of all.

The rows are the `Claim`s that `claims` of an experiment, in `figures/NAME.py`, returns. Claims with
the same `Claim.main` are one row of the main results, with a column for each `Claim.method`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from vpr.experiments.runner.experiment import Claim
from vpr.experiments.shared.panels import sample_std

EMPTY = "–"
NO_BREAK = "\u00a0"  # a space that keeps a number on one line


class Footnotes:
    """Settings, each described once and numbered in the order of their first use."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, setting: str) -> str:
        number = self._numbers.setdefault(setting, len(self._numbers) + 1)
        return f"[^{number}]"

    def text(self) -> str:
        return "\n".join(f"[^{number}]: {text}." for text, number in self._numbers.items())


def claims_table(claims: Sequence[Claim], footnotes: Footnotes) -> str:
    """A row per claim, with the controls in two further columns if there are any."""
    has_controls = any(claim.controls for claim in claims)
    head = ["quantity", "paper", "ours", "lowest, highest", "n"]
    rows = []
    for claim in claims:
        quantity = f"{claim.what}{footnotes.mark(claim.setting)}"
        ends = f"{number(min(claim.ours), claim)}, {number(max(claim.ours), claim)}"
        row = [quantity, _paper(claim), _ours(claim), ends, str(len(claim.ours))]
        rows.append([*row, *_controls(claim)] if has_controls else row)
    return _markdown([*head, "periodic", "random"] if has_controls else head, rows)


def _controls(claim: Claim) -> list[str]:
    """The means of the two controls."""
    if claim.controls is None:
        return [EMPTY, EMPTY]
    return [number(float(np.mean(values)), claim) for values in claim.controls]


def main_table(claims: Iterable[Claim], footnotes: Footnotes) -> str:
    """A row per quantity that several methods share: VPR, other methods, and controls of VPR."""
    cells: dict[str, dict[str, Claim]] = {}
    for claim in claims:
        if claim.main:
            cells.setdefault(claim.main, {})[claim.method] = claim
    others = dict.fromkeys(method for row in cells.values() for method in row if method != "VPR")
    rows = [_main_row(what, row, list(others), footnotes) for what, row in cells.items()]
    return _markdown(["quantity", "paper", "VPR", "n", *others, "periodic", "random"], rows)


def _main_row(
    what: str, row: dict[str, Claim], others: list[str], footnotes: Footnotes
) -> list[str]:
    first, last = [EMPTY] * 3, [EMPTY] * 2
    if vpr := row.get("VPR"):
        ours = f"**{_ours(vpr)}**{footnotes.mark(vpr.setting)}"
        first, last = [_paper(vpr), ours, str(len(vpr.ours))], _controls(vpr)
    return [what, *first, *(_other(row.get(method), footnotes) for method in others), *last]


def _other(claim: Claim | None, footnotes: Footnotes) -> str:
    """The result of another method, and its number in the paper if there is one."""
    if claim is None:
        return EMPTY
    paper = "" if isinstance(claim.paper, str) else f"; paper {_paper(claim)}"
    return f"{_ours(claim)} (n = {len(claim.ours)}{paper}){footnotes.mark(claim.setting)}"


def _ours(claim: Claim) -> str:
    return mean_and_std(claim).replace(" ", NO_BREAK)


def _paper(claim: Claim) -> str:
    text = str(claim.paper)
    return text if isinstance(claim.paper, str) else text.replace(" ± ", f"{NO_BREAK}±{NO_BREAK}")


def _markdown(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def mean_and_std(claim: Claim) -> str:
    """Mean ± standard deviation, or the value of a single run."""
    values = np.asarray(claim.ours)
    mean = number(values.mean(), claim)
    return mean if len(values) == 1 else f"{mean} ± {number(float(sample_std(values)), claim)}"


def number(value: float, claim: Claim) -> str:
    """With the decimal places of the claim."""
    return f"{100 * value:.1f} %" if claim.percent else f"{value:.{claim.digits}f}"
