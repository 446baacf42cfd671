"""The page of a timeline in a real browser: pointer, keys, zoom and appearance.

Needs chromium on the path and `pip install playwright`; otherwise the tests are skipped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.pages.chromium import CHROMIUM, FLAGS
from tests.pages.timelines import balls, hour
from vpr.pages.timeline.timeline_page import timeline_page
from vpr.segmenting.timeline import Event, Timeline

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on the path")

Tab = Any  # playwright has no types without being installed
Open = Callable[..., Tab]


def films() -> Timeline:
    """Six minutes, three levels, more events than a page of the table."""
    return hour(9_000, 400, picture=100)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens the page of a timeline. At the end there must be no console message and no request."""
    opened: list[Any] = []
    said: list[str] = []

    def build(
        timeline: Timeline, video: str | None = None, all_events: bool = True, **context: Any
    ) -> Tab:
        file = tmp_path / "page.html"
        file.write_text(timeline_page(timeline, video), encoding="utf-8")
        opened.append(
            browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context})
        )
        tab = opened[-1].new_page()
        allowed = (file.as_uri(), "data:", *([(tmp_path / video).as_uri()] if video else []))
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("dialog", lambda dialog: said.append(dialog.message))
        tab.on("request", lambda r: r.url.startswith(allowed) or said.append(r.url))
        tab.set_default_timeout(120_000)  # machines may be busy
        tab.goto(file.as_uri())
        if all_events:
            tab.evaluate("filterEvents(0); state.event = eventsOf.get(state.level)?.[0] ?? null")
            tab.evaluate("for (const row of rows) row.scale = null; sortRows(); changed()")
        settle(tab)
        return tab

    yield build
    for context in opened:
        context.close()
    excused = "Failed to load resource: net::ERR_FILE_NOT_FOUND"  # of a video that is elsewhere
    assert [each for each in said if each != excused] == []


def settle(tab: Tab) -> None:
    """Wait until everything is drawn."""
    tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def wait_until(tab: Tab, holds: str) -> None:
    """Like `wait_for_function`, which the page's Content-Security-Policy forbids to ask twice."""
    for _ in range(1200):
        if tab.evaluate(holds):
            return
        tab.wait_for_timeout(100)
    raise AssertionError(holds)


def press(tab: Tab, *keys: str) -> None:
    for key in keys:
        tab.keyboard.press(key)
    settle(tab)


def shown(tab: Tab) -> tuple[float, float]:
    start, end = tab.evaluate("[view.from, view.to]")
    return start, end


def chosen(tab: Tab) -> int | None:
    """The frame of the selected event."""
    frame: int | None = tab.evaluate("state.event && state.event.frame")
    return frame


def facts(tab: Tab, where: str = "#facts") -> dict[str, str]:
    rows = tab.locator(f"{where} dl > div")
    return {
        row.locator("dt").text_content(): row.locator("dd").text_content() for row in rows.all()
    }


def at(tab: Tab, lane: str, time: float) -> tuple[float, float]:
    """The screen position of a time."""
    box = tab.locator(lane).bounding_box()
    start, end = shown(tab)
    return box["x"] + (time - start) / (end - start) * box["width"], box["y"] + box["height"] - 12


def column(tab: Tab, number: int) -> list[str]:
    return [
        each.strip() for each in tab.locator(f"#table td:nth-child({number})").all_text_contents()
    ]


class TestOpened:
    @pytest.mark.parametrize("events", [0, 1, 50])
    def test_without_console_messages(self, show: Open, events: int) -> None:
        tab = show(replace(balls(), boundaries=balls().boundaries[:events]))
        assert tab.locator("h1").text_content() == "Events in balls.mp4"
        assert tab.locator("#table tbody tr").count() == min(events, len(balls().boundaries))
        assert tab.locator("#curves path.curve").count() == 3

    @pytest.mark.parametrize("frames", [0, 1, 2])
    @pytest.mark.parametrize("levels", [1, 2, 9])
    def test_almost_empty_timelines(self, show: Open, frames: int, levels: int) -> None:
        tab = show(Timeline("x", "m", levels, frames, np.arange(frames) / 25, []))
        press(tab, "ArrowRight", "ArrowLeft", "End", "+", "-", "0", "ArrowUp", "2", "9")
        tab.mouse.move(700, 300)
        assert tab.locator("#facts").text_content().startswith("No events")

    def test_markup_in_names_is_escaped(self, show: Open) -> None:
        name = "<!--<script>alert(1)</script><img src=x onerror=alert(2)>.mp4"
        tab = show(replace(balls(), source=name.replace("/", "∕"), model=name))
        assert tab.locator("h1 em").text_content() == name.replace("/", "∕")
        assert tab.locator(".lead b").text_content() == name

    def test_a_mark_for_each_event_where_there_is_room(self, show: Open) -> None:
        tab = show(balls())
        start = balls().boundaries[0].time
        tab.evaluate(f"show({float(start)}, 1.2)")
        settle(tab)
        first, end = shown(tab)
        inside = [e for e in balls().boundaries if first <= e.time < end - 0.04]
        assert len(inside) > 3
        drawn = tab.locator(".row svg use, .row svg .tick-mark").count()
        assert drawn >= len(inside) - 2  # neighbours share a tick

    def test_too_many_events_for_ticks_are_bars_of_their_number(self, show: Open) -> None:
        tab = show(hour(90_000, 1_900, picture=100))
        level2 = ".row[data-level='2'] svg"
        paths = tab.locator(f"{level2} .tick-mark.dense").all()
        drawn = "".join(path.get_attribute("d") for path in paths)
        bars = re.findall(r"M([\d.]+) [\d.]+v(-?[\d.]+)", drawn)
        assert len({place for place, _ in bars}) <= tab.evaluate("view.width") / 8 + 1
        assert len({length for _, length in bars}) > 2
        assert max(abs(float(length)) for _, length in bars) <= 9
        press(tab, "2")
        assert tab.locator("#overview .tick-mark.dense").count() == 1
        tab.evaluate("show(0, 20)")
        settle(tab)
        assert tab.locator(f"{level2} .dense").count() == 0
        assert tab.locator(f"{level2} use").count() > 3

    def test_the_tab_of_a_phone_does_not_scroll_sideways(self, show: Open) -> None:
        tab = show(films(), viewport={"width": 360, "height": 740})
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360
        assert tab.locator("#curves").bounding_box()["width"] > 280


class TestPointer:
    def test_hover_shows_the_values_compared(self, show: Open) -> None:
        tab, frame = show(balls()), 57
        tab.mouse.move(*at(tab, "#curves", (frame + 0.5) / 25))
        assert "0:02.280 frame 57" in tab.locator("#tip .words").text_content()
        values = facts(tab, "#tip")
        for name, curve in zip(("Dst", "Dch", "threshold"), balls().curves[2], strict=True):
            assert float(values[name]) == pytest.approx(float(curve[frame]), rel=0.01)
        before = max(t for t in balls().pictures if t <= frame)
        assert tab.locator("#tip figcaption").text_content() == f"key frame {before}"
        tab.mouse.move(5, 5)
        assert tab.locator("#tip").is_hidden()

    def test_click_on_a_mark_shows_the_event(self, show: Open) -> None:
        tab, event = show(balls()), balls().boundaries[7]
        tab.mouse.click(*at(tab, ".row", float(event.time) + 0.02))
        values = facts(tab)
        assert values["frame"] == str(event.frame)
        assert values["time"].endswith(f"exactly {float(event.time):g} s")
        assert (values["level"], values["kind"].split()[0]) == ("2", event.kind)
        for name, value in (("Dst", event.kl_static), ("Dch", event.kl_change)):
            assert float(values[name]) == pytest.approx(value, rel=1e-3)
        assert float(values["threshold"]) == pytest.approx(event.threshold, rel=1e-3)
        for name, value in (("fit", event.fit), ("surprise", event.surprise)):
            assert float(values[name].replace("−", "-")) == pytest.approx(value, abs=0.006)
        assert tab.locator("#picture").evaluate("each => each.complete && each.naturalWidth") == 64

    def test_click_between_marks_selects_the_current_event(self, show: Open) -> None:
        gaps = np.diff([e.frame for e in balls().boundaries])
        i = int(gaps.argmax())
        tab, event = show(balls()), balls().boundaries[i]
        tab.mouse.click(*at(tab, ".row", float(event.time) + gaps[i] / 25 / 2))
        assert chosen(tab) == event.frame

    def test_wheel_zooms_around_the_pointer(self, show: Open) -> None:
        tab = show(balls())
        x, y = at(tab, "#curves", 2.0)
        tab.mouse.move(x, y)
        tab.mouse.wheel(0, -300)
        wait_until(tab, "view.to - view.from < 7")
        settle(tab)
        assert at(tab, "#curves", 2.0)[0] == pytest.approx(x, abs=1.5)

    def test_wheel_scrolls_the_page_when_the_whole_video_is_visible(self, show: Open) -> None:
        tab = show(balls())
        tab.mouse.move(*at(tab, "#curves", 2.0))
        tab.mouse.wheel(0, 300)
        wait_until(tab, "scrollY > 100")
        assert shown(tab) == pytest.approx((0, 8))

    def test_drag_pans_and_selects_nothing(self, show: Open) -> None:
        tab = show(balls())
        tab.evaluate("show(3, 2)")
        settle(tab)
        before, (x, y) = chosen(tab), at(tab, ".row", 4)
        tab.mouse.move(x, y)
        tab.mouse.down()
        tab.mouse.move(x + 100, y, steps=5)
        tab.mouse.up()
        settle(tab)
        width = tab.locator(".row").bounding_box()["width"]
        assert shown(tab)[0] == pytest.approx(3 - 100 / width * 2, abs=0.01)
        assert chosen(tab) == before

    def test_two_fingers_zoom(self, show: Open) -> None:
        tab = show(balls(), has_touch=True)
        x, y = at(tab, ".row", 4)
        fingers = tab.context.new_cdp_session(tab)
        for kind, apart in (("touchStart", 50), ("touchMove", 80), ("touchMove", 200)):
            points = [{"x": x + side * apart, "y": y, "id": i} for i, side in enumerate((-1, 1))]
            fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        settle(tab)
        start, end = shown(tab)
        assert end - start == pytest.approx(2, rel=0.2)
        assert (start + end) / 2 == pytest.approx(4, abs=0.3)

    def test_the_overview_moves_the_view(self, show: Open) -> None:
        tab = show(balls())
        tab.evaluate("show(0, 1)")
        settle(tab)
        box = tab.locator("#overview").bounding_box()
        tab.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + 10)
        assert sum(shown(tab)) / 2 == pytest.approx(6, abs=0.05)


class TestKeys:
    def test_arrows_step_through_the_events(self, show: Open) -> None:
        tab, frames = show(balls()), [e.frame for e in balls().boundaries]
        seen = [chosen(tab)]
        for _ in range(3):
            press(tab, "ArrowRight")
            seen.append(chosen(tab))
        assert seen == frames[:4]
        press(tab, "ArrowLeft")
        assert chosen(tab) == frames[2]
        press(tab, "End", "ArrowRight")
        assert chosen(tab) == frames[-1]
        press(tab, "Home", "ArrowLeft")
        assert chosen(tab) == frames[0]

    def test_a_step_makes_the_event_visible(self, show: Open) -> None:
        tab = show(films())
        press(tab, "+", "+", "+", "+", "End")
        start, end = shown(tab)
        assert start < tab.evaluate("state.event.time") < end
        assert end - start == pytest.approx(360 / 16)

    def test_numbers_and_arrows_select_the_level(self, show: Open) -> None:
        tab = show(films())
        pressed = tab.locator("button.level[aria-pressed=true]")
        assert tab.locator("#level").text_content() == "level 3"  # the slowest that found anything
        press(tab, "2")
        assert pressed.get_attribute("data-level") == "2"
        press(tab, "ArrowRight")
        assert tab.evaluate("state.event.level") == 2
        press(tab, "ArrowUp")
        assert pressed.get_attribute("data-level") == "3"
        press(tab, "1", "9", "ArrowUp")
        assert pressed.get_attribute("data-level") == "3"

    def test_zoom(self, show: Open) -> None:
        tab = show(balls())
        press(tab, "+")
        assert np.ptp(shown(tab)) == pytest.approx(4)
        press(tab, "-")
        assert shown(tab) == pytest.approx((0, 8))
        press(tab, *"++++++++")
        assert np.ptp(shown(tab)) == pytest.approx(16 / 25)  # no closer
        press(tab, "Shift+ArrowRight")
        assert shown(tab)[0] > 0
        press(tab, "0")
        assert shown(tab) == pytest.approx((0, 8))

    def test_help(self, show: Open) -> None:
        tab = show(balls())
        press(tab, "?")
        assert tab.locator("#help").is_visible()
        assert "whole video" in tab.locator("#help").text_content()
        press(tab, "Escape")
        assert tab.locator("#help").is_hidden()

    def test_every_button_can_be_reached_and_shows_it(self, show: Open) -> None:
        tab, seen = show(films()), set()
        for _ in range(12):
            tab.keyboard.press("Tab")
            seen.add(tab.evaluate("document.activeElement.dataset.do ?? document.activeElement.id"))
            assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        assert seen >= {"previous", "next", "in", "out", "whole", "theme", "help", "stage"}


class TestTable:
    def test_sorts_by_every_column(self, show: Open) -> None:
        tab = show(balls())
        keys: list[Callable[[Event], Any]] = [
            lambda e: e.frame,
            lambda e: e.time,
            lambda e: e.level,
            lambda e: e.kind,
            lambda e: e.kl_static,
            lambda e: e.kl_change,
            lambda e: e.threshold,
            lambda e: e.fit,
            lambda e: e.surprise,
        ]
        for i, key in enumerate(keys, start=1):
            tab.locator(f"#table th:nth-child({i}) button").click()
            expected = [str(e.frame) for e in sorted(balls().boundaries, key=key)]
            up = column(tab, 1)
            assert tab.locator("th[aria-sort=ascending]").count() == 1
            assert _ranked(up, key) == _ranked(expected, key)
            tab.locator(f"#table th:nth-child({i}) button").click()
            assert _ranked(column(tab, 1), key) == _ranked(expected, key)[::-1]

    def test_unknown_numbers_come_last(self, show: Open) -> None:
        first, *rest = balls().boundaries[:5]
        tab = show(replace(balls(), boundaries=[first._replace(kl_static=math.nan), *rest]))
        for _ in range(2):
            tab.locator("#table th:nth-child(5) button").click()
            assert column(tab, 5)[-1] == "–"

    def test_filters_by_level_and_turns_pages(self, show: Open) -> None:
        tab = show(films())
        assert column(tab, 1) == [str(e.frame) for e in films().boundaries[:100]]
        tab.locator("#more").click()
        assert column(tab, 1) == [str(e.frame) for e in films().boundaries[100:200]]
        tab.locator("#filter").select_option("3")
        assert tab.locator("#rows").text_content() == "50 events"
        assert column(tab, 3) == ["3"] * 50
        tab.locator("#filter").select_option("2")
        for page_of_rows in ("1 to 100", "101 to 200", "201 to 300", "301 to 400"):
            assert tab.locator("#rows").text_content() == f"{page_of_rows} of 400"
            assert tab.locator("#more").is_disabled() == (page_of_rows == "301 to 400")
            tab.locator("#more:enabled, #rows").first.click()

    def test_a_row_is_an_event(self, show: Open) -> None:
        tab = show(balls())
        tab.locator("#table tbody tr").nth(9).click()
        assert chosen(tab) == balls().boundaries[9].frame
        tab.locator("#table tbody tr").nth(4).locator("button").press("Enter")
        assert chosen(tab) == balls().boundaries[4].frame
        assert tab.locator("tr[aria-current=true]").count() == 1
        assert tab.evaluate("document.activeElement.textContent") == str(
            balls().boundaries[4].frame
        )

    def test_the_selected_event_is_in_the_visible_rows(self, show: Open) -> None:
        tab = show(films())
        press(tab, "End")
        row = tab.locator("tr[aria-current=true]").bounding_box()
        box = tab.locator(".list").bounding_box()
        assert box["y"] < row["y"]
        assert row["y"] + row["height"] <= box["y"] + box["height"] + 1


def _ranked(frames: list[str], key: Callable[[Event], Any]) -> list[Any]:
    """The values in the order of the rows, rounded to the precision of the page."""
    by_frame = {str(e.frame): key(e) for e in balls().boundaries}
    values = [by_frame[frame] for frame in frames]
    return [float(f"{v:.2g}") if isinstance(v, float) else v for v in values]


class TestAppearance:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_light_and_dark(self, show: Open, scheme: str) -> None:
        tab = show(balls(), color_scheme=scheme)
        paper = "getComputedStyle(document.body).backgroundColor"
        first = brightness(tab.evaluate(paper))
        assert (first > 0.5) == (scheme == "light")
        tab.locator("[data-do=theme]").click()
        assert (brightness(tab.evaluate(paper)) > 0.5) != (scheme == "light")
        press(tab, "t")
        assert brightness(tab.evaluate(paper)) == first

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_contrast(self, show: Open, scheme: str) -> None:
        """The contrast that WCAG requires: 3 for graphics, 4.5 for text."""
        tab = show(balls(), color_scheme=scheme)

        def colour(selector: str, name: str) -> float:
            return brightness(
                tab.evaluate(f"getComputedStyle(document.querySelector('{selector}')).{name}")
            )

        card = colour(".card", "backgroundColor")
        for drawn in ("#expected .ce", "#unexpected .cu"):
            assert contrast(colour(drawn, "fill"), card) >= 3
        for line in (".curve.st", ".curve.ch", ".curve.cu"):
            assert contrast(colour(line, "stroke"), card) >= 3
        for read in ("#facts dt", "#facts dd", "#rows", ".label", "thead button"):
            assert contrast(colour(read, "color"), card) >= 4.5

    def test_kinds_differ_in_shape(self, show: Open) -> None:
        tab = show(balls())
        symbols = tab.evaluate("[...document.querySelectorAll('symbol')].map((s) => s.innerHTML)")
        shapes = {re.sub(r'class=".*?"', "", symbol) for symbol in symbols}
        assert len(shapes) == len(symbols) == 4


def brightness(colour: str) -> float:
    """Relative luminance of `rgb(…)`."""
    channels = (float(n) / 255 for n in re.findall(r"[\d.]+", colour)[:3])
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(a: float, b: float) -> float:
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


class TestStrength:
    def test_at_first_only_as_many_events_as_can_be_read(self, show: Open) -> None:
        timeline = hour(4_500, 1_900, picture=100)
        tab = show(timeline, all_events=False)
        counts = [tab.evaluate(f"eventsOf.get({level}).length") for level in (2, 3)]
        assert 30 <= counts[0] <= 70
        assert tab.locator("button.level[data-level='2'] span").text_content() == (
            f"{counts[0]} of 1,900 events"
        )
        assert tab.locator("#shown").text_content().startswith(f"{sum(counts)} of 2,138 events")
        assert tab.locator("#table tbody tr").count() == sum(counts)

    @pytest.mark.parametrize("count", [3, 20])
    def test_no_level_is_hidden_at_first(self, show: Open, count: int) -> None:
        """Even if all events of level 3 are weaker than the sixty strongest of level 2."""
        plain = hour(4_500, 1_900, picture=100)
        kept = [event for event in plain.boundaries if event.level == 3][:count]
        weak = [e._replace(threshold=e.kl_static / 1.01) for e in kept]
        frames = {event.frame for event in kept}
        fast = [e for e in plain.boundaries if e.level == 2 and e.frame not in frames]
        below = [e._replace(level=2, threshold=e.kl_static) for e in weak]
        found = sorted([*fast, *below, *weak], key=lambda event: (event.frame, event.level))
        tab = show(replace(plain, boundaries=found), all_events=False)
        assert tab.evaluate("eventsOf.get(3).length") >= min(count, 5)

    def test_levels_stay_nested_and_the_selection_is_shown(self, show: Open) -> None:
        tab = show(films(), all_events=False)
        for position in (0, 300, 800, 1000):
            slide(tab, position)
            frames = [
                set(tab.evaluate(f"eventsOf.get({level}).map((each) => each.frame)"))
                for level in (2, 3)
            ]
            assert frames[1] <= frames[0] != set()
            assert chosen(tab) in frames[tab.evaluate("state.level") - 2]
            least = tab.evaluate("strengthAt(Number(slider.value))")
            shown = tab.evaluate("shownEvents.map((each) => each.strength)")
            assert min(shown) >= least - 1e-6

    def test_probabilities_of_a_calibrated_model(self, show: Open) -> None:
        found = [
            event._replace(probability=place / len(balls().boundaries))
            for place, event in enumerate(balls().boundaries)
        ]
        tab = show(replace(balls(), boundaries=found))
        slide(tab, 500)
        assert "probability ≥ 0.4" in tab.locator("#shown").text_content()
        assert tab.evaluate("shownEvents.length") == pytest.approx(len(found) / 2, abs=1)
        assert "probability" in facts(tab)

    def test_without_strengths_there_is_no_slider(self, show: Open) -> None:
        tab = show(replace(balls(), boundaries=balls().boundaries[:1]), all_events=False)
        assert not tab.locator("#strength").is_visible()


def slide(tab: Tab, position: int) -> None:
    tab.locator("#strength").fill(str(position))
    settle(tab)


class TestLong:
    def test_an_hour_is_drawn_with_few_elements(self, show: Open) -> None:
        """The number of drawn elements does not grow with the footage."""
        tab = show(hour())
        press(tab, "2")
        for _ in range(3):
            assert tab.evaluate("document.querySelectorAll('#stage *').length") < 1500
            assert tab.evaluate("plot.innerHTML.length") < 150_000
            press(tab, "+", "+", "+", "+")

    def test_downsampled_curves_show_a_range(self, show: Open) -> None:
        timeline = hour(270_000, 9_000)
        tab = show(timeline)
        press(tab, "2")
        tab.mouse.move(*at(tab, "#curves", 5000))
        values = facts(tab, "#tip")["Dst"]
        least, greatest = (float(each) for each in values.split(" to "))
        assert 0 < least < greatest

    def test_a_rate_that_varies(self, show: Open) -> None:
        """Slow at first, then fast: events lie where they are shown in the video."""
        times = np.concatenate([np.arange(100) / 5, 20 + np.arange(100) / 100])
        found = [
            e._replace(time=Fraction(float(times[e.frame])).limit_denominator(1000))
            for e in balls().boundaries
        ]
        tab = show(replace(balls(), times=times, boundaries=found))
        assert shown(tab)[1] == pytest.approx(21, abs=0.2)
        for event in (found[3], found[-3]):
            middle = float(event.time) + (0.1 if event.frame < 99 else 0.005)
            tab.mouse.move(*at(tab, "#curves", middle))
            assert f"frame {event.frame}" in tab.locator("#tip .words").text_content()


class TestVideo:
    def test_a_missing_video_is_ignored(self, show: Open) -> None:
        tab = show(balls(), "not here.mp4")
        wait_until(tab, "!document.getElementById('video')")
        press(tab, "ArrowRight")
        assert chosen(tab) == balls().boundaries[1].frame

    def test_jumps_to_the_event(self, show: Open, tmp_path: Path) -> None:
        av = pytest.importorskip("av")
        with av.open(str(tmp_path / "balls #1.webm"), "w") as container:
            stream = container.add_stream("libvpx", rate=25, options={"deadline": "realtime"})
            stream.width = stream.height = 64
            for _ in range(200):
                picture = av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), "rgb24")
                container.mux(stream.encode(picture))
            container.mux(stream.encode(None))
        tab, event = show(balls(), "balls #1.webm"), balls().boundaries[5]
        tab.locator("#video").wait_for(state="visible")
        press(tab, "Home", *["ArrowRight"] * 5)
        wait_until(tab, f"Math.abs(video.currentTime - {float(event.time)}) < 0.02")
