"""Optimal one-to-one matching of predicted and true boundaries, within a tolerance.

On a line, two pairs that cross can be uncrossed: neither of the new distances exceeds the larger of
the old, nor does their sum. So one of the best matchings is in order, and dynamic programming over
prefixes finds it. All numbers are exact fractions. `scores.py` compares events with the labels of a
generated dataset, at the exact frame.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from vpr.errors import VPRError
from vpr.utils.fractions import bounded_fraction

Number = int | float | Fraction | Decimal


class MatchedPair(NamedTuple):
    """Indices of a predicted boundary and its true one."""

    predicted: int
    true: int


@dataclass(frozen=True)
class MatchCounts:
    """Counts of one video, or summed over several. Ratios with denominator 0 are 0."""

    matched: int = 0
    predicted: int = 0
    true: int = 0
    distance: Fraction = Fraction(0)  # sum over all pairs

    def __add__(self, other: MatchCounts) -> MatchCounts:
        return MatchCounts(
            self.matched + other.matched,
            self.predicted + other.predicted,
            self.true + other.true,
            self.distance + other.distance,
        )

    @property
    def precision(self) -> float:
        return self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.matched / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        total = self.predicted + self.true
        return 2 * self.matched / total if total else 0.0

    @property
    def mean_distance(self) -> float | None:
        return float(self.distance / self.matched) if self.matched else None


def boundary_scores(
    predicted: Iterable[Number], true: Iterable[Number], tolerance: Number
) -> MatchCounts:
    """Precision, recall and F1 of one video; counts of several videos can be added."""
    found, real = [exact(p) for p in predicted], [exact(t) for t in true]
    pairs = match_boundaries(found, real, tolerance)
    distance = sum((abs(found[p] - real[t]) for p, t in pairs), Fraction(0))
    return MatchCounts(len(pairs), len(found), len(real), distance)


def match_boundaries(
    predicted: Iterable[Number], true: Iterable[Number], tolerance: Number
) -> list[MatchedPair]:
    """The largest matching within the tolerance (inclusive), with the smallest total distance.

    Times in seconds or frame numbers, in any order; the pairs are in the order of time.
    """
    found, real = [exact(p) for p in predicted], [exact(t) for t in true]
    within = exact(tolerance)
    if within < 0:
        raise VPRError(f"the tolerance must be 0 or more, got {float(within):g}")
    whole = lcm(*(number.denominator for number in (*found, *real, within)))
    found_order = sorted(range(len(found)), key=found.__getitem__)
    real_order = sorted(range(len(real)), key=real.__getitem__)
    pairs = _match_in_order(
        [int(found[p] * whole) for p in found_order],
        [int(real[t] * whole) for t in real_order],
        int(within * whole),
    )
    return [MatchedPair(found_order[p], real_order[t]) for p, t in pairs]


def exact(number: Number) -> Fraction:
    """The decimal number as a fraction: 0.2 is 1/5."""
    try:
        if isinstance(number, int | Fraction):
            return Fraction(number)
        return bounded_fraction(str(number))
    except ValueError:
        raise VPRError(f"{number} is not a number of seconds or frames") from None


def _match_in_order(
    predicted: Sequence[int], true: Sequence[int], within: int
) -> list[tuple[int, int]]:
    """Match sorted integers, in time and memory proportional to the pairs within the tolerance.

    `row[j - low]` is the best value of the predictions so far and the first j true boundaries. A
    prediction can match only true boundaries from `low` to `high`, and neither bound decreases, so
    a row needs no other entries.
    """
    a_pair = min(len(predicted), len(true)) * within + 1  # value of a pair, more than all distances
    row, low, high = [0], 0, 0
    rows: list[tuple[int, bytearray]] = []  # per prediction: low, and its choices from low + 1
    for p in predicted:
        before, first, last = row, low, high
        low, high = bisect_left(true, p - within), bisect_right(true, p + within)
        row, choices = [before[min(low, last) - first]], bytearray()
        for j in range(low + 1, high + 1):
            alone = before[min(j, last) - first]
            paired = before[min(j - 1, last) - first] + a_pair - abs(p - true[j - 1])
            row.append(max(row[-1], alone, paired))
            choices.append(_PAIR if paired == row[-1] else _SKIP_P if alone == row[-1] else _SKIP_T)
        rows.append((low, choices))
    return _trace_back(rows, len(true))


_PAIR, _SKIP_P, _SKIP_T = 0, 1, 2


def _trace_back(rows: list[tuple[int, bytearray]], j: int) -> list[tuple[int, int]]:
    pairs = []
    for i in reversed(range(len(rows))):
        low, choices = rows[i]
        j = min(j, low + len(choices))
        while j > low and choices[j - low - 1] == _SKIP_T:
            j -= 1
        if j > low and choices[j - low - 1] == _PAIR:
            j -= 1
            pairs.append((i, j))
    return pairs[::-1]
