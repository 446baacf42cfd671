"""The page of a timeline as a file: no external resources, complete data, bounded size."""

from __future__ import annotations

import json
import math
import re
from base64 import b64decode
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.pages.timelines import balls, hour
from vpr.pages.timeline.packed_curves import curve_stride, packed_curves, packed_times
from vpr.pages.timeline.timeline_data import exact, kept_pictures
from vpr.pages.timeline.timeline_page import timeline_page
from vpr.segmenting.timeline import Curves, Event, Timeline

MB = 1_000_000
EMPTY = Timeline("still.mp4", "m", 2, 3, np.arange(3) / 25, [])


def data_of(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html)
    assert found
    carried: dict[str, Any] = json.loads(found[1])
    return carried


class Outline(HTMLParser):
    """Elements, their attributes, and the title."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.title = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        if self.elements[-1:] == [("title", {})]:
            self.title += data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


class TestFile:
    def test_has_no_external_resources(self) -> None:
        html = timeline_page(balls())
        for tag, attributes in Outline(html).elements:
            for name in ("src", "href"):
                assert (attributes.get(name) or "data:").startswith(("data:", "#")), (
                    tag,
                    attributes,
                )
        assert not re.search(r"https?:|@import|\burl\((?!\$)", html)

    def test_one_row_a_level_the_slowest_on_top(self) -> None:
        levels = [
            a["data-level"]
            for _, a in Outline(timeline_page(hour())).elements
            if a.get("class") == "level"
        ]
        assert levels == ["3", "2"]

    def test_same_timeline_same_page(self) -> None:
        assert timeline_page(balls()) == timeline_page(replace(balls()))

    def test_every_id_once_and_every_button_named(self) -> None:
        html = timeline_page(hour(), "hour.mp4")
        ids = [a["id"] for _, a in Outline(html).elements if "id" in a]
        assert len(ids) == len(set(ids))
        assert all(re.sub(r"<.*?>", "", b) for b in re.findall(r"<button.*?>(.*?)</button>", html))

    @pytest.mark.parametrize(
        "name",
        [
            "<script>.mp4",
            "<!--<script>",
            "</script><b>x",
            "</title>$name &amp; \"q\" 'a'.mp4",
            "影片 ö.mp4",
        ],
    )
    def test_names_are_escaped(self, name: str) -> None:
        """The name of a file changes only text on the page."""
        strange = Outline(timeline_page(replace(balls(), source=name, model=name), name))
        plain = Outline(timeline_page(balls(), "x"))
        assert [tag for tag, _ in strange.elements] == [tag for tag, _ in plain.elements]
        assert strange.title.strip() == f"vpr: events in {name.rpartition('/')[2]}"

    def test_a_name_with_invalid_bytes(self) -> None:
        timeline_page(replace(balls(), source="bad\udcff.mp4"), "bad\udcff.mp4").encode()

    @pytest.mark.parametrize(
        ("path", "link"),
        [
            ("a b#1?.mp4", "a%20b%231%3F.mp4"),
            ("../x/ö.mp4", "../x/%C3%B6.mp4"),
            ("https://a.b/c.mp4", "https%3A//a.b/c.mp4"),  # a file's name: nobody is asked
            ("//a.b/c.mp4", "/a.b/c.mp4"),
            ("bad\udcff.mp4", "bad%FF.mp4"),
        ],
    )
    def test_the_video_is_a_file(self, path: str, link: str) -> None:
        videos = [
            a["src"] for tag, a in Outline(timeline_page(balls(), path)).elements if tag == "video"
        ]
        assert videos == [link]

    def test_without_a_video_there_is_none(self) -> None:
        assert not Outline(timeline_page(balls())).count("video")


class TestSize:
    def test_an_hour(self) -> None:
        assert len(timeline_page(hour()).encode()) < 10 * MB

    def test_two_minutes(self) -> None:
        assert len(timeline_page(hour(3_000, 120, 2)).encode()) < MB

    def test_three_hours_full_of_events(self) -> None:
        assert len(timeline_page(hour(270_000, 9_000)).encode()) < 11 * MB

    def test_pictures_of_high_levels_go_first(self) -> None:
        timeline = hour()
        kept = kept_pictures(timeline, 2 * MB)
        upper = {e.frame for e in timeline.boundaries if e.level == 3}
        assert upper < kept.keys() < timeline.pictures.keys()
        assert min(timeline.pictures) in kept
        assert sum(4 * math.ceil(len(each) / 3) for each in kept.values()) <= 2 * MB


class TestData:
    def test_contains_every_event(self) -> None:
        timeline = balls()
        for carried, event in zip(
            data_of(timeline_page(timeline))["events"], timeline.boundaries, strict=True
        ):
            frame, time, level, kind, *numbers, probability = carried
            assert probability == event.probability
            assert (frame, Fraction(time), level, kind) == event[:4]
            shown = (event.kl_static, event.kl_change, event.threshold, event.fit, event.surprise)
            np.testing.assert_allclose(numbers, shown, rtol=1e-3, atol=1e-3)

    def test_contains_every_picture(self) -> None:
        pictures = data_of(timeline_page(balls()))["pictures"]
        assert {int(t): b64decode(text) for t, text in pictures.items()} == balls().pictures

    def test_unknown_numbers_are_null(self) -> None:
        event = Event(1, Fraction(1, 25), 2, "clock", math.nan, math.inf, math.nan)
        assert (
            data_of(timeline_page(replace(EMPTY, boundaries=[event])))["events"][0][4:]
            == [None] * 6
        )

    @given(st.fractions(min_value=-100, max_value=100_000, max_denominator=10**6))
    def test_times_are_exact(self, time: Fraction) -> None:
        assert Fraction(exact(time)) == time

    def test_events_are_counted_at_each_level(self) -> None:
        """A change of level 3 is also an event of level 2."""
        times = [Fraction(n, 25) for n in range(3)]
        events = [Event(n, times[n], level, "both", 1.0, 1.0, 1.0) for n, level in ((1, 2), (2, 2))]
        events.append(events[1]._replace(level=3))
        timeline = Timeline("x", "m", 3, 9, np.arange(9) / 25, events)
        assert "found 2 events at level 2, 1 event at level 3, in 9 frames." in timeline_page(
            timeline
        )

    @pytest.mark.parametrize("frames", [0, 1, 2])
    @pytest.mark.parametrize("levels", [1, 2, 9])
    def test_almost_empty_timelines(self, frames: int, levels: int) -> None:
        html = timeline_page(Timeline("x", "m", levels, frames, np.arange(frames) / 25, []))
        assert Outline(html).count("section") == 3
        assert "no event" in html


def values_of(carried: dict[str, Any], stride: int) -> NDArray[np.float64]:
    """(3, 1 or 2, bins) as the page reads them."""
    steps = np.frombuffer(b64decode(carried["values"]), "<u2").astype(float)
    steps = steps.reshape(3, 1 if stride == 1 else 2, -1)
    share = np.where(steps == 0, np.nan, (steps - 1) / 65534)
    return np.asarray(10 ** (carried["low"] + share * (carried["high"] - carried["low"])))


KL = st.floats(2**-20, 2**16, width=32) | st.just(math.nan)


class TestCurves:
    @settings(deadline=None, max_examples=40)
    @given(st.lists(st.tuples(KL, KL, KL), min_size=1, max_size=40), st.integers(1, 7))
    def test_round_trip(self, rows: list[tuple[float, float, float]], stride: int) -> None:
        """Each value, or the least and the greatest of a bin, to a tenth of a percent."""
        curves = np.array(rows, np.float32).T
        read = values_of(packed_curves(Curves(*curves), stride), stride)
        for i in range(read.shape[2]):
            part = curves[:, i * stride : (i + 1) * stride]
            least, greatest = np.fmin.reduce(part, axis=1), np.fmax.reduce(part, axis=1)
            np.testing.assert_allclose(read[:, 0, i], least, rtol=1e-3)
            np.testing.assert_allclose(read[:, -1, i], greatest, rtol=1e-3)

    def test_values_without_a_logarithm(self) -> None:
        """0 is drawn at the lowest value; infinity is not drawn."""
        values = np.array([0.0, -1e-9, math.inf, math.nan, 1.0], np.float32)
        read = values_of(packed_curves(Curves(values, values, values), 1), 1)
        assert (read[:, 0, :2] < 1e-10).all()
        assert np.isnan(read[:, 0, 2:4]).all()
        np.testing.assert_allclose(read[:, 0, 4], 1)

    def test_only_long_footage_is_thinned(self) -> None:
        assert curve_stride(hour()) == 1
        long = hour(270_000, 9_000)
        assert 3 * 2 * 2 * long.frames / curve_stride(long) <= 600_000


class TestTimes:
    @staticmethod
    def knots(timeline: Timeline) -> tuple[int, NDArray[np.float64]]:
        carried = packed_times(timeline, 1)
        knots = np.frombuffer(b64decode(carried["knots"]), "<f4").astype(float)
        return carried["stride"], knots + carried["start"]

    def test_a_steady_rate_is_two_knots(self) -> None:
        stride, knots = self.knots(replace(balls(), times=5 + np.arange(200) / 25))
        assert (stride, knots.tolist()) == (200, [5, 13])

    def test_milliseconds_are_steady(self) -> None:
        """As containers with coarse time bases round them."""
        times = np.round(np.arange(200) * 1001 / 30000, 3)
        assert len(self.knots(replace(balls(), times=times))[1]) == 2

    def test_a_rate_that_varies_is_kept(self) -> None:
        times = np.cumsum(np.random.default_rng(0).uniform(0.01, 0.2, 200))
        stride, knots = self.knots(replace(balls(), times=times))
        assert stride == 1
        np.testing.assert_allclose(knots[:-1], times, atol=1e-4)
        assert knots[-1] > times[-1]

    @pytest.mark.parametrize("times", [[0.0] * 200, [3.0] * 200])
    def test_footage_without_times_has_a_second_a_frame(self, times: list[float]) -> None:
        assert np.ptp(self.knots(replace(balls(), times=np.array(times)))[1]) == 200
