"""Which claims count as confirmed, exceeded or not confirmed."""

import pytest

from vpr.experiments.runner.experiment import Claim, Published, Statement
from vpr.experiments.runner.verdicts import (
    above,
    at_least,
    at_most,
    between,
    comparisons,
    not_below,
    verdicts,
)


def claim(*ours: float, mean: float = 0.9, std: float = 0.04) -> Claim:
    return Claim("F1", Published(mean, std), [*ours], "a setting")


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        (claim(0.91, 0.92, 0.93, 0.94, 0.95), "exceeded"),
        (claim(0.90, 0.92, 0.93, 0.94, 0.95), "confirmed"),  # the lowest is not higher
        (claim(0.95, 0.95, 0.95, 0.95), "confirmed"),  # too few runs
        (claim(0.83, 0.83), "confirmed"),
        (claim(0.81, 0.81), "not confirmed"),
        (claim(0.95), "not confirmed"),  # a single run
        (claim(0.99, 0.99, mean=1.0, std=0.0), "confirmed"),
        (claim(0.97, 0.97, mean=1.0, std=0.0), "not confirmed"),
    ],
)
def test_numbers_are_compared_with_those_of_the_paper(claim: Claim, kind: str) -> None:
    (verdict,) = verdicts([claim], [])
    assert verdict.kind == kind
    assert str(claim.paper) in verdict.reason


def test_rows_without_a_number_have_no_verdict() -> None:
    assert verdicts([claim(0.9, 0.9)._replace(paper="yes (figure only)")], []) == []


@pytest.mark.parametrize(
    ("statement", "holds"),
    [
        (above("", [0.9, 0.9], [0.8, 0.8]), True),
        (above("", [0.8, 1.0], [0.7, 0.7]), False),  # within two standard deviations
        (above("", [0.7, 0.7], [0.9, 0.9]), False),
        (not_below("", [0.86, 0.86], [0.9, 0.9]), True),
        (not_below("", [0.6, 1.0], [0.9, 0.9]), False),  # whatever the spread
        (at_least("", [0.9, 0.9], 0.9), True),
        (at_least("", [0.8, 0.9], 0.9), False),
        (at_most("", [0.1, 0.1], 0.1), True),
        (at_most("", [0.1, 0.2], 0.1), False),
        (between("", [0.3, 0.3], 0.2, 0.4), True),
        (between("", [0.5, 0.5], 0.2, 0.4), False),
    ],
)
def test_statements_are_decided_by_their_numbers(statement: Statement, holds: bool) -> None:
    assert statement.holds == holds
    (verdict,) = verdicts([], [statement])
    assert verdict.kind == ("confirmed" if holds else "not confirmed")


def test_a_single_run_confirms_nothing() -> None:
    (verdict,) = verdicts([], [above("", [0.9], [0.1, 0.1])])
    assert verdict.kind == "not confirmed"
    assert verdict.reason.endswith("1 run")


def test_vpr_is_compared_with_other_methods_of_the_same_row() -> None:
    ours = claim(0.95, 0.95)._replace(main="Ball: F1")
    worse = claim(0.5, 0.5)._replace(main="Ball: F1", method="VTA")
    better = claim(0.99, 0.99)._replace(main="Ball: F1", method="CW-VAE")
    elsewhere = worse._replace(main="Room: F1")
    found = comparisons([worse, claim(0.1, 0.1), ours, better, elsewhere])
    assert [(each.text, each.holds) for each in found] == [
        ("Ball: F1: VPR above VTA", True),
        ("Ball: F1: VPR above CW-VAE", False),
    ]


def test_published_numbers_have_the_digits_of_the_paper() -> None:
    assert str(Published(0.9, 0.04)) == "0.90 ± 0.04"
    assert str(Published(0.99, 0.017)) == "0.99 ± 0.017"
    assert str(Published(0.52, 0.05, "project page")) == "0.52 ± 0.05 (project page)"
