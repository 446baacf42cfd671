"""Scores, against values computed by hand, and controls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vpr.evaluation import periodic_like, random_like, score

MARKS = st.integers(2, 12).flatmap(
    lambda length: st.tuples(*[arrays(bool, (3, length)) for _ in range(2)])
)


def test_by_hand() -> None:
    true = np.array([[1, 1, 0, 0, 1, 0]], dtype=bool)
    found = np.array([[0, 1, 1, 0, 0, 0]], dtype=bool)
    scores = score(found, true)
    assert scores.precision == 1 / 2
    assert scores.recall == 1 / 2
    assert scores.f1 == 1 / 2
    assert scores.fpr == 1 / 3
    assert scores.f1_near == 1 / 2  # the change at 1 is matched once only


def test_no_predictions_and_no_labels() -> None:
    nothing = np.zeros((2, 5), dtype=bool)
    assert score(nothing, nothing) == (0, 0, 0, 0, 0)


def test_near_is_within_one_frame_of_the_same_sequence() -> None:
    true = np.array([[0, 0, 1, 0, 0, 1], [0, 0, 0, 0, 0, 0]], dtype=bool)
    found = np.array([[0, 1, 0, 1, 0, 0], [0, 0, 1, 0, 0, 1]], dtype=bool)
    assert score(found, true).f1 == 0
    assert score(found, true).f1_near == 2 * 1 / (4 + 2)


@given(MARKS)
def test_near_is_at_least_exact(marks: tuple[np.ndarray, np.ndarray]) -> None:
    scores = score(*marks)
    assert scores.f1 <= scores.f1_near <= 1


@given(MARKS)
def test_first_frame_never_counts(marks: tuple[np.ndarray, np.ndarray]) -> None:
    found, true = marks
    other = found.copy()
    other[:, 0] = ~other[:, 0]
    assert score(found, true) == score(other, true)


@given(MARKS)
def test_f1_is_the_harmonic_mean(marks: tuple[np.ndarray, np.ndarray]) -> None:
    scores = score(*marks)
    total = scores.precision + scores.recall
    harmonic = 2 * scores.precision * scores.recall / total if total else 0
    assert scores.f1 == pytest.approx(harmonic)


@given(MARKS)
def test_controls_have_as_many_marks(marks: tuple[np.ndarray, np.ndarray]) -> None:
    found = marks[0]
    for control in (periodic_like(found), random_like(found, np.random.default_rng(0))):
        assert control[:, 1:].sum() == found[:, 1:].sum()
        assert not control[:, 0].any()
