"""Events closer than the minimum gap."""

import itertools
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.segmenting.made import event, relaxed
from vpr.segmenting.selection import apply_min_gap
from vpr.segmenting.timeline import Event

levels_by_frame = st.dictionaries(
    st.integers(1, 60), st.tuples(st.integers(2, 4), st.floats(0.1, 9)), max_size=30
)


def nested(found: dict[int, tuple[int, float]]) -> list[Event]:
    """At each frame one event of every level up to the highest."""
    return [
        event(frame, level, kl_static)
        for frame, (top, kl_static) in sorted(found.items())
        for level in range(2, top + 1)
    ]


@relaxed
@given(levels_by_frame, st.integers(1, 20))
def test_result_is_far_apart_nested_and_maximal(
    found: dict[int, tuple[int, float]], frames: int
) -> None:
    events, gap = nested(found), Fraction(frames, 25)
    kept = apply_min_gap(events, gap)
    assert kept == [each for each in events if each in kept]
    for level in (2, 3, 4):
        mine = [each for each in kept if each.level == level]
        assert all(b.time - a.time >= gap for a, b in itertools.pairwise(mine))
        for each in events:
            if each.level == level and each not in mine:
                assert any(abs(each.time - other.time) < gap for other in mine)
    for each in kept:
        assert each.level == 2 or any(
            (other.frame, other.level) == (each.frame, each.level - 1) for other in kept
        )


def test_the_stronger_event_is_kept() -> None:
    weak, strong, far = event(10, kl_static=2.0), event(12, kl_static=5.0), event(30)
    assert apply_min_gap([weak, strong, far], Fraction(1, 5)) == [strong, far]


def test_events_of_the_level_above_are_kept() -> None:
    low, loud, high = event(10, 2, 2.0), event(12, 2, 5.0), event(10, 3, 2.0)
    assert apply_min_gap([low, high, loud], Fraction(1, 5)) == [low, high]


def test_gap_is_inclusive_and_zero_changes_nothing() -> None:
    two = [event(10), event(15)]
    assert apply_min_gap(two, Fraction(1, 5)) == two
    assert apply_min_gap([event(1), event(2)], Fraction(0)) == [event(1), event(2)]
