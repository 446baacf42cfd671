"""A bounded number of pictures: of the highest and strongest events, and at regular intervals."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.segmenting.made import event, relaxed
from vpr.segmenting import recorder
from vpr.segmenting.recorder import STRIDE, KeyFrames
from vpr.segmenting.timeline import Event
from vpr.video import Frame

FRAME = Frame(np.zeros((2, 2, 3), np.uint8), 0, 0, Fraction(1, 25))


@pytest.fixture(autouse=True)
def few() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorder, "MAX_EVENTS", 6)
        patch.setattr(recorder, "MAX_REGULAR", 8)
        patch.setattr(recorder, "jpeg", lambda picture: b"x")
        yield


def watched(opening: Sequence[Event | None]) -> list[int]:
    """The frames that are kept, given the event at each frame."""
    kept = KeyFrames()
    for frame, each in enumerate(opening):
        kept.add(frame, FRAME, each)
    return list(kept.pictures())


@relaxed
@given(st.lists(st.tuples(st.integers(2, 3), st.floats(1, 9)), max_size=40))
def test_the_highest_then_the_clearest_events_are_kept(priority: list[tuple[int, float]]) -> None:
    frames = watched([event(n, level, moved) for n, (level, moved) in enumerate(priority)])
    regular = watched([None] * len(priority))
    assert set(regular) <= set(frames)
    assert len(set(frames) - set(regular)) <= 6
    left_out = [priority[n] for n in range(len(priority)) if n not in frames]
    best = sorted(priority, reverse=True)[:6]
    assert not left_out or max(left_out) <= min(best)


@relaxed
@given(st.integers(1, 2000))
def test_regular_pictures_have_equal_distances(frames: int) -> None:
    found = watched([None] * frames)
    assert found[0] == 0
    assert len(set(np.diff(found))) <= 1
    assert min(-(-frames // STRIDE), 4) <= len(found) <= 8


def test_a_thumbnail_is_made_only_for_what_is_kept() -> None:
    made: list[int] = []

    def whole(width: int) -> np.ndarray:
        made.append(width)
        return FRAME.picture

    kept = KeyFrames()
    kept.add(0, FRAME._replace(whole=whole), None)
    for frame in range(1, 600):
        kept.add(frame, FRAME._replace(whole=whole), event(frame, kl_static=1 / frame))
    regular = 9 + 4 * 4  # nine at stride 4, then four at each from 8 to 64
    events = 5  # six are kept, and one of them is a moment
    assert len(made) == regular + events


def test_regular_pictures_are_encoded_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoded: list[int] = []

    def jpeg(picture: np.ndarray) -> bytes:
        encoded.append(int(picture[0, 0, 0]))
        return bytes([encoded[-1]])

    monkeypatch.setattr(recorder, "jpeg", jpeg)
    kept = KeyFrames()
    for frame in range(33):
        shown = FRAME._replace(picture=np.full((2, 2, 3), frame, np.uint8))
        kept.add(frame, shown, event(frame) if frame in (3, 16) else None)
    assert encoded == [3, 16]
    assert kept.pictures() == {n: bytes([n]) for n in (0, 3, 8, 16, 24, 32)}
    assert sorted(encoded) == [0, 3, 8, 16, 24, 32]
