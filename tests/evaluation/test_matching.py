"""One-to-one matching: as many pairs as possible, then as near as possible, exactly."""

from decimal import Decimal
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vpr import VPRError
from vpr.evaluation import MatchCounts, boundary_scores, match_boundaries

marks = st.lists(st.integers(0, 12), max_size=5)


def brute_force(predicted: list[int], true: list[int], within: int) -> tuple[int, int]:
    """The best of all one-to-one matchings: most pairs, then smallest distance."""
    best = (0, 0)
    for size in range(1, min(len(predicted), len(true)) + 1):
        for some in combinations(range(len(predicted)), size):
            for others in permutations(range(len(true)), size):
                apart = [abs(predicted[p] - true[t]) for p, t in zip(some, others, strict=True)]
                if max(apart) <= within:
                    best = max(best, (size, -sum(apart)))
    return best


@given(marks, marks, st.integers(0, 13))
def test_matching_is_optimal(predicted: list[int], true: list[int], within: int) -> None:
    pairs = match_boundaries(predicted, true, within)
    apart = [abs(predicted[p] - true[t]) for p, t in pairs]
    assert all(distance <= within for distance in apart)
    assert len({p for p, _ in pairs}) == len({t for _, t in pairs}) == len(pairs)
    assert (len(pairs), -sum(apart)) == brute_force(predicted, true, within)


@given(marks, marks, st.integers(0, 13), st.fractions(Fraction(1, 90), 5), st.randoms())
def test_scale_and_order_do_not_matter(
    predicted: list[int], true: list[int], within: int, unit: Fraction, random: object
) -> None:
    plain = boundary_scores(predicted, true, within)
    random.shuffle(predicted)  # type: ignore[attr-defined]
    scaled = boundary_scores([p * unit for p in predicted], [t * unit for t in true], within * unit)
    assert scaled == MatchCounts(plain.matched, plain.predicted, plain.true, plain.distance * unit)


@given(marks, marks, st.integers(0, 13))
def test_a_wider_tolerance_never_loses_a_pair(p: list[int], t: list[int], within: int) -> None:
    assert boundary_scores(p, t, within).matched <= boundary_scores(p, t, within + 1).matched


def test_greedy_matching_would_lose_a_pair() -> None:
    """13 is nearest to 14 and 9 to 10; taking 13 for 10 first, as some scripts do, leaves 14."""
    scores = boundary_scores([9, 13], [10, 14], 5)
    assert (scores.precision, scores.recall, scores.f1) == (1.0, 1.0, 1.0)
    assert match_boundaries([9, 13], [10, 14], 5) == [(0, 0), (1, 1)]
    assert (
        boundary_scores([12, 14], [10, 12], 2).matched == 2
    )  # nearest first: 12 to 12, 14 to none


def test_smallest_distance_among_largest_matchings() -> None:
    assert match_boundaries([10, 11, 12], [12], 5) == [(2, 0)]
    assert match_boundaries([12], [10, 11, 12, 13], 5) == [(0, 2)]


def test_tolerance_is_inclusive_for_all_number_types() -> None:
    assert 0.8 - 0.6 > 0.2  # for binary arithmetic it is outside
    for number in (float, np.float64, np.float32, Decimal, lambda x: x):
        text = [number("0.8")], [number("0.6")], number("0.2")
        assert boundary_scores(*text).matched == 1
    assert boundary_scores([Fraction(1001, 30000)], [0], Fraction(1001, 30000)).matched == 1
    assert boundary_scores(["0.3000001"], ["0.1"], "0.2").matched == 0


def test_empty_predictions_or_labels_score_zero() -> None:
    assert boundary_scores([], [], 1) == MatchCounts()
    for tally in (MatchCounts(), boundary_scores([1], [], 1), boundary_scores([], [1], 1)):
        assert (tally.precision, tally.recall, tally.f1) == (0.0, 0.0, 0.0)
        assert tally.mean_distance is None


def test_counts_of_videos_are_summed() -> None:
    both = boundary_scores([1, 2], [1], 0) + boundary_scores([5], [6, 9, 20], 1)
    assert both == MatchCounts(2, 3, 4, Fraction(1))
    assert (both.precision, both.recall, both.mean_distance) == (2 / 3, 0.5, 0.5)
    assert both.f1 == pytest.approx(4 / 7)


def test_an_hour_of_dense_marks() -> None:
    """Every frame is a boundary, with a tolerance of 25 frames: the table remains a band."""
    frames = np.arange(20_000)
    tally = boundary_scores(frames.tolist(), (frames[::2] + 2).tolist(), 25)
    assert (tally.matched, tally.distance) == (10_000, 1)  # 20,000 lies beyond the last


def test_invalid_numbers_raise() -> None:
    for bad in (float("nan"), float("inf"), "soon"):
        with pytest.raises(VPRError, match="not a number"):
            match_boundaries([bad], [1], 1)
    with pytest.raises(VPRError, match="0 or more"):
        match_boundaries([1], [1], -1)
