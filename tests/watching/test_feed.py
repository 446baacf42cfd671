"""Feeds of frames: dropped frames and delays are reported."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from threading import Event
from time import sleep

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpr import VPRError
from vpr.video.frames import Frame
from vpr.watching.feed import BUFFER_SIZE, Arrival, Feed, blocking_feed
from vpr.watching.json_lines import Notices
from vpr.watching.watcher import WatchedFrame

PICTURE = np.zeros((16, 16, 1), np.uint8)


def frame(number: int, rate: int = 25) -> Frame:
    return Frame(PICTURE, number, number, Fraction(1, rate))


def numbers(arrivals: list[Arrival]) -> list[int]:
    return [arrival.frame.number for arrival in arrivals]


def test_a_blocking_feed_drops_nothing() -> None:
    ticks = iter(range(100))
    arrivals = list(blocking_feed(map(frame, range(30)), clock=lambda: next(ticks)))
    assert numbers(arrivals) == list(range(30))
    assert [arrival.at for arrival in arrivals] == list(range(30))
    assert {arrival.dropped for arrival in arrivals} == {0}


class Flood:
    """Frames without delay; `over` is set when all were read."""

    def __init__(self, count: int) -> None:
        self.count, self.over = count, Event()

    def __iter__(self) -> Iterator[Frame]:
        yield from map(frame, range(self.count))
        self.over.set()


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 60), st.integers(1, 12))
def test_the_oldest_are_dropped_and_each_is_counted(count: int, buffer_size: int) -> None:
    flood = Flood(count)
    arrivals = []
    for arrival in Feed(flood, buffer_size=buffer_size):
        flood.over.wait()  # a model that is slower than all of it
        arrivals.append(arrival)
    assert len(arrivals) + sum(arrival.dropped for arrival in arrivals) == count
    # The first was taken while others came, then there are those that fitted into the buffer.
    assert (
        numbers(arrivals)[-min(buffer_size, count) :]
        == list(range(count))[-min(buffer_size, count) :]
    )
    assert len(arrivals) <= buffer_size + 1
    for before, after in pairwise(arrivals):
        assert after.frame.number - before.frame.number == after.dropped + 1


def test_a_fast_reader_gets_all_frames() -> None:
    taken = Event()

    def polite() -> Iterator[Frame]:
        for number in range(3 * BUFFER_SIZE):
            yield frame(number)
            taken.wait(10)
            taken.clear()

    arrivals = []
    for arrival in Feed(polite()):
        arrivals.append(arrival)
        taken.set()
    assert numbers(arrivals) == list(range(3 * BUFFER_SIZE))
    assert not any(arrival.dropped for arrival in arrivals)


def test_errors_are_raised_after_the_last_frame() -> None:
    def broken() -> Iterator[Frame]:
        yield frame(0)
        raise VPRError("the cable is out")

    feed = iter(Feed(broken()))
    assert next(feed).frame.number == 0
    with pytest.raises(VPRError, match="the cable is out"):
        next(feed)


def test_leaving_the_loop_stops_the_thread() -> None:
    ended = Event()

    def endless() -> Iterator[Frame]:
        try:
            number = 0
            while True:
                yield frame(number)
                number += 1
        finally:
            ended.set()

    arrivals = iter(Feed(endless()))
    next(arrivals)
    arrivals.close()  # type: ignore[attr-defined]
    assert ended.wait(10)


def test_a_file_is_played_at_its_own_speed() -> None:
    """Frames at 50 per second, the first of which is shown late: never early, hardly late."""
    feed = Feed((frame(n + 500, rate=50) for n in range(12)), paced=True)
    arrivals = list(feed)
    assert numbers(arrivals) == list(range(500, 512))
    for arrival in arrivals:
        due = float(arrival.frame.time - arrivals[0].frame.time)
        assert arrival.at - arrivals[0].at >= due - 0.005


class Now:
    """A clock that tests can set."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def seen(dropped: int = 0, late: float = 0.0) -> WatchedFrame:
    return WatchedFrame(frame(0), [], [], dropped, late)


def test_drops_are_reported_once_and_at_most_every_second() -> None:
    now = Now()
    notices = Notices(now)
    reported = []
    for step in range(40):
        now.time = step / 10
        reported.append(notices.drops(seen(dropped=step % 3)))
    assert reported[:2] == [0, 1]
    assert [n for n, count in enumerate(reported) if count] == [1, 11, 21, 31]
    assert sum(reported) + notices.take_unreported() == sum(step % 3 for step in range(40))
    assert notices.take_unreported() == 0


def test_a_late_source_is_reported_at_intervals() -> None:
    now = Now()
    notices = Notices(now)
    assert notices.late(seen(late=0.9)) is None
    assert notices.late(seen(late=1.5)) == 1.5
    now.time = 4.9
    assert notices.late(seen(late=7.0)) is None
    now.time = 5.1
    assert notices.late(seen(late=7.2)) == 7.2


def test_without_drops_the_reading_waits() -> None:
    arrivals = []
    for arrival in Feed(Flood(30), buffer_size=2, drops=False):
        sleep(0.002)  # slower than the frames arrive
        arrivals.append(arrival)
    assert numbers(arrivals) == list(range(30))
    assert {arrival.dropped for arrival in arrivals} == {0}
