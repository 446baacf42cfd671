"""A bounded number of pictures: the highest and clearest events, and moments evenly spread."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.segmenting.made import relaxed
from vpr.segmenting import keyframes
from vpr.segmenting.keyframes import KeyFrames
from vpr.video import Frame

FRAME = Frame(np.zeros((2, 2, 3), np.uint8), 0, 0, Fraction(1, 25))


@pytest.fixture(autouse=True)
def few() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyframes, "EVENTS", 6)
        patch.setattr(keyframes, "EVENLY", 8)
        patch.setattr(keyframes, "jpeg", lambda picture: b"x")
        yield


@relaxed
@given(st.lists(st.tuples(st.integers(2, 3), st.floats(0, 9)), max_size=40))
def test_the_highest_then_the_clearest_events_are_kept(worth: list[tuple[int, float]]) -> None:
    kept = KeyFrames()
    for frame, (level, score) in enumerate(worth):
        kept.event(frame, level, score, FRAME)
    frames = list(kept.pictures())
    assert len(frames) == min(6, len(worth))
    left_out = [worth[n] for n in range(len(worth)) if n not in frames]
    assert not left_out or max(left_out) <= min(worth[n] for n in frames)


@relaxed
@given(st.integers(1, 2000))
def test_moments_are_spread_evenly(frames: int) -> None:
    kept = KeyFrames()
    for frame in range(frames):
        kept.moment(frame, FRAME)
    found = list(kept.pictures())
    assert found[0] == 0
    assert len(set(np.diff(found))) <= 1
    assert min(frames, 4) <= len(found) <= 8


def test_a_thumbnail_is_made_only_for_what_is_kept() -> None:
    made: list[int] = []

    def whole(width: int) -> np.ndarray:
        made.append(width)
        return FRAME.picture

    kept = KeyFrames()
    for frame in range(300):
        kept.event(frame, 2, -float(frame), FRAME._replace(whole=whole))
    assert len(made) == 6
