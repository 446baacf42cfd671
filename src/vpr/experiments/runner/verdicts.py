"""Which claims of the paper our results confirm, by the rule that the results page states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from vpr.experiments.runner.experiment import Claim, Published, Statement
from vpr.experiments.shared.panels import sample_std

Kind = Literal["confirmed", "exceeded", "not confirmed"]
RULE = """\
A number of the paper is *confirmed* if our mean is at most two of the paper's standard deviations
(at least 0.02) lower, and *exceeded* if all of five or more runs are higher. Where the paper has
only a figure, the claim is a test in the file of the experiment. In these tests, "above" means that
two means differ by more than two standard deviations (the larger of the two), and "not below" that
the first is at most 0.05 lower. Nothing is confirmed by a single run.
"""
MIN_RUNS = 5  # runs, as in the paper
MAX_DEFICIT = 0.05


class Verdict(NamedTuple):
    kind: Kind
    text: str
    reason: str


def above(text: str, high: Sequence[float], low: Sequence[float]) -> Statement:
    """The first mean is above the second."""
    gap, needed = float(np.mean(high) - np.mean(low)), _two_std(high, low)
    numbers = f"{spread(high)} and {spread(low)}, {gap:.4f} higher, over {needed:.4f} needed"
    return Statement(text, gap > needed, numbers, min(len(high), len(low)))


def not_below(text: str, values: Sequence[float], other: Sequence[float]) -> Statement:
    """The first mean is at most `MAX_DEFICIT` below the second."""
    holds = bool(np.mean(values) >= np.mean(other) - MAX_DEFICIT)
    numbers = f"{spread(values)} and {spread(other)}, at most {MAX_DEFICIT:g} lower allowed"
    return Statement(text, holds, numbers, min(len(values), len(other)))


def between(text: str, values: Sequence[float], low: float, high: float) -> Statement:
    """The mean is in an interval."""
    holds = bool(low <= np.mean(values) <= high)
    return Statement(text, holds, f"{spread(values)}, limits {low:g} and {high:g}", len(values))


def at_least(text: str, values: Sequence[float], low: float) -> Statement:
    holds = bool(np.mean(values) >= low)
    return Statement(text, holds, f"{spread(values)}, at least {low:g} needed", len(values))


def at_most(text: str, values: Sequence[float], high: float) -> Statement:
    holds = bool(np.mean(values) <= high)
    return Statement(text, holds, f"{spread(values)}, at most {high:g} allowed", len(values))


def spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation."""
    return f"{np.mean(values):.4f} ± {float(sample_std(np.asarray(values))):.4f}"


def _two_std(*groups: Sequence[float]) -> float:
    return 2 * max(float(sample_std(np.asarray(group))) for group in groups)


def verdicts(claims: Iterable[Claim], statements: Iterable[Statement]) -> list[Verdict]:
    """One for each claim with a number of the paper, and for each statement."""
    found = [_of_number(claim, claim.paper) for claim in claims if not isinstance(claim.paper, str)]
    return found + [_of_statement(statement) for statement in statements]


def _of_number(claim: Claim, paper: Published) -> Verdict:
    runs = len(claim.ours)
    reason = f"{spread(claim.ours)}, {_runs(runs)}; paper {paper}"
    if runs >= MIN_RUNS and min(claim.ours) > paper.mean:
        return Verdict("exceeded", claim.what, reason)
    enough = float(np.mean(claim.ours)) >= paper.mean - max(2 * paper.std, 0.02)
    return Verdict("confirmed" if enough and runs > 1 else "not confirmed", claim.what, reason)


def _of_statement(statement: Statement) -> Verdict:
    confirmed = statement.holds and statement.runs > 1
    reason = f"{statement.numbers}, {_runs(statement.runs)}"
    return Verdict("confirmed" if confirmed else "not confirmed", statement.text, reason)


def _runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"


def comparisons(claims: Iterable[Claim]) -> list[Statement]:
    """VPR against each other method, for each row of the main results that has both."""
    claims = [claim for claim in claims if claim.main]
    ours = {claim.main: claim for claim in claims if claim.method == "VPR"}
    return [
        above(f"{each.main}: VPR above {each.method}", ours[each.main].ours, each.ours)
        for each in claims
        if each.method != "VPR" and each.main in ours
    ]
