"""Watcher, statistics and JSON lines."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from io import StringIO

import numpy as np
import pytest
import torch

from vpr import VPR, Stream, VPRError
from vpr.segmenting.timeline import Event
from vpr.video.frames import Frame
from vpr.watching.feed import Arrival
from vpr.watching.json_lines import JSONLines, event_line
from vpr.watching.watcher import WatchedFrame, Watcher, WatchStatistics


@pytest.fixture
def model(tiny_model: Callable[..., VPR]) -> VPR:
    model = tiny_model(3, dtype=torch.float32)
    model.typical_kl.fill_(1e-3)
    return model


@pytest.fixture
def arrivals(scenes: Callable[..., torch.Tensor]) -> list[Arrival]:
    """Every third frame is lost, and the source falls behind by a tenth of a second a frame."""
    video = (scenes(1, 30)[0] * 255).round().byte().permute(0, 2, 3, 1).numpy()
    frames = [Frame(picture, n, n, Fraction(1, 25)) for n, picture in enumerate(video)]
    kept = [frame for frame in frames if frame.number % 3]
    return [Arrival(f, 100 + f.number * 0.14, int(f.number % 3 == 1)) for f in kept]


def test_events_are_those_of_a_stream_at_the_frames_of_the_source(
    model: VPR, arrivals: list[Arrival]
) -> None:
    stream, watcher = Stream(model), Watcher(model)
    found, expected = [], []
    for arrival in arrivals:
        seen = watcher.process(arrival)
        found += seen.events
        picture = torch.from_numpy(np.array(arrival.frame.picture)).permute(2, 0, 1)
        for boundary in stream.push(picture.float() / 255):
            expected.append(
                Event.of(boundary._replace(frame=arrival.frame.number), arrival.frame.time)
            )
        assert len(seen.evidence) == len(stream.evidence)
    assert found == expected
    assert {event.level for event in found} == {2, 3}
    assert all(event.time == Fraction(event.frame, 25) for event in found)


def test_a_source_that_falls_behind_its_own_times_is_late(
    model: VPR, arrivals: list[Arrival]
) -> None:
    watcher = Watcher(model, live=True)
    late = [watcher.process(arrival).late for arrival in arrivals]
    assert late == pytest.approx([(a.frame.number - 1) * 0.1 for a in arrivals])
    waits = Watcher(model)
    assert {waits.process(arrival).late for arrival in arrivals} == {0.0}


def test_statistics(model: VPR, arrivals: list[Arrival]) -> None:
    watcher, account, events = Watcher(model, live=True), WatchStatistics(3), 0
    for n, arrival in enumerate(arrivals):
        seen = watcher.process(arrival)
        events += len(seen.events)
        account.add(seen, delay=(n + 1) / 1000)
    summary = account.summary()
    assert (summary["frames"], summary["dropped"]) == (20, 10)
    assert list(summary["events"]) == ["2", "3"]
    assert sum(summary["events"].values()) == events
    assert summary["delay_ms"] == {"median": 10.5, "max": 20.0}
    assert summary["late_s"] == pytest.approx(2.8)


def test_statistics_without_frames() -> None:
    assert WatchStatistics(2).summary()["events"] == {"2": 0}


def test_a_model_of_one_level_raises(tiny_model: Callable[..., VPR]) -> None:
    with pytest.raises(VPRError, match="detects no events"):
        Watcher(tiny_model(1))


def test_lines_of_events_drops_and_delays_are_in_order() -> None:
    out = StringIO()
    lines = JSONLines(out)
    frame = Frame(np.zeros((2, 2, 3), np.uint8), 7, 7, Fraction(1, 25))
    event = Event(7, frame.time, 2, "expected", 2.0, 1.0, math.inf)
    lines.show(WatchedFrame(frame, [event, event._replace(level=3)], [], dropped=4, late=2.5))
    lines.show(WatchedFrame(frame, [], [], dropped=2, late=2.5))
    lines.end({"ended": "stopped"})
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    place = {"frame": 7, "time": 0.28}
    assert lines[:2] == [{"dropped": 4, **place}, {"late_s": 2.5, **place}]
    assert [line["level"] for line in lines[2:4]] == [2, 3]
    assert lines[4:] == [{"dropped": 2}, {"summary": {"ended": "stopped"}}]


def test_a_line_has_the_columns_of_the_table_and_no_infinity() -> None:
    line = event_line(Event(7, Fraction(1, 3), 2, "expected", 2.0, 1.0, math.inf))
    assert (line["frame"], line["exact"], line["level"]) == (7, "1/3", 2)
    assert line["fit"] == pytest.approx(math.log(2))
    assert line["threshold"] is line["surprise"] is None
