"""Lengths of events, against values computed by hand and data of known lengths."""

import numpy as np
import pytest

from vpr.evaluation import earth_movers_distance, event_lengths


def marks(*rows: str) -> np.ndarray:
    return np.array([[mark == "|" for mark in row] for row in rows])


def test_by_hand() -> None:
    """Whole events of 2, 3 and 1 frames; cut off at the ages 1, 0 and 4: 3 ends in 11 frames."""
    measured = event_lengths(marks("|--|-|-", "--|--||", "--|----"))
    assert (measured.events, measured.cut) == (3, 3)
    assert measured.longer == pytest.approx([1, 4 / 5, 8 / 15, 4 / 15, 4 / 15])
    assert measured.mean == pytest.approx(2.6 + 4 / 15 * 11 / 3)


def test_ends_are_not_counted_as_events() -> None:
    # Begun at 2 and 5: one of 3 frames, one of more than 2.
    measured = event_lengths(marks("|-|--|--"))
    assert (measured.events, measured.cut) == (1, 1)
    assert measured.longer == [1, 1, 1, 0]
    assert measured.mean == 3


def test_truncated_events_count_while_observed() -> None:
    """At age 1 three are watched and one ends; at age 2 one is, and it ends."""
    measured = event_lengths(marks("-||-|-"))  # 1, then 2, then cut off at age 1
    assert (measured.events, measured.cut) == (2, 1)
    assert measured.longer == pytest.approx([1, 2 / 3, 0])
    assert measured.mean == pytest.approx(1 + 2 / 3)


def test_an_event_longer_than_every_sequence() -> None:
    measured = event_lengths(marks("-|---", "-|-|-"))  # one end in 3 + 2 + 1 frames
    assert measured.longer == pytest.approx([1, 1, 1 / 2, 1 / 2])
    assert measured.mean == pytest.approx(2.5 + 1 / 2 * 6)
    never = event_lengths(marks("-|---"))
    assert (never.longer, never.mean, never.events) == ([1, 1, 1, 1], 3, 0)


def test_no_event_at_all() -> None:
    measured = event_lengths(np.zeros((3, 5), dtype=bool))
    assert measured == ([1.0], 0.0, 0, 0)


@pytest.mark.parametrize("length", [15, 50, 400])
def test_short_sequences_give_the_same_mean(length: int) -> None:
    """Chance of 0.1 a frame: 10 frames on average. Whole events alone would say 4.1, 7.7, 9.9."""
    rng = np.random.default_rng(0)
    drawn = rng.random((60_000 // length, length)) < 0.1
    measured = event_lengths(drawn)
    assert measured.mean == pytest.approx(10, rel=0.05)
    assert measured.longer[3] == pytest.approx(0.9**3, abs=0.01)


def test_regular_events_of_any_phase() -> None:
    time = np.arange(20) + np.arange(8)[:, None]
    assert event_lengths(time % 8 == 0).mean == 8


def test_distance_is_in_frames() -> None:
    time = np.arange(60) + np.arange(12)[:, None]
    four, six = event_lengths(time % 4 == 0), event_lengths(time % 6 == 0)
    assert earth_movers_distance(four, four) == 0
    assert earth_movers_distance(four, six) == earth_movers_distance(six, four) == 2


def test_distance_ends_where_one_is_unknown() -> None:
    known = event_lengths(marks("-|---|"))
    unknown = event_lengths(marks("-|-"))  # lasts longer than 1 frame
    assert earth_movers_distance(known, unknown) == 0
