"""The view in a terminal, with many colours, few, and none."""

from fractions import Fraction
from io import BytesIO, StringIO, TextIOWrapper

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment

from vpr.events import Kind, LevelEvidence
from vpr.segmenting.timeline import Event
from vpr.video.frames import Frame
from vpr.watching.gallery import UPPER, half_blocks, scaled_to
from vpr.watching.lanes import BAR_WIDTH, Lane
from vpr.watching.terminal_view import TerminalView, summary_text
from vpr.watching.watcher import WatchedFrame

WIDTH = 90


def console(colours: str | None = "truecolor", height: int = 30) -> Console:
    return Console(
        file=StringIO(),
        force_terminal=True,
        color_system=colours,  # type: ignore[arg-type]
        width=WIDTH,
        height=height,
    )


def evidence(kl_static: float, threshold: float) -> LevelEvidence:
    over = kl_static > threshold
    return LevelEvidence(kl_static, kl_static / 2, threshold, over, over, over)


def seen(number: int, kinds: dict[int, Kind] | None = None, **more: float) -> WatchedFrame:
    """At 10 frames per second; a red frame, wider than high."""
    picture = np.zeros((60, 90, 3), np.uint8)
    picture[..., 0] = 255
    frame = Frame(picture[::6, ::6], number, number, Fraction(1, 10), lambda w: picture[::3, :w])
    events = [Event(number, frame.time, n, k, 3.0, 1.0, 2.0) for n, k in (kinds or {}).items()]
    asked = [evidence(0.0, 0.0), *[evidence(3.0, 2.0)] * len(events), evidence(0.5, 2.0)][:3]
    return WatchedFrame(frame, events, asked, int(more.get("dropped", 0)), more.get("late", 0.0))


def drawn(view: TerminalView) -> list[str]:
    with view.console.capture() as capture:
        view.console.print(view.picture())
    return capture.get().splitlines()


def plain(view: TerminalView) -> list[str]:
    """Without colours."""
    segments = view.console.render(view.picture())
    return "".join(s.text for s in segments if not s.control).splitlines()


def test_time_runs_to_the_left_and_marks_keep_their_distance() -> None:
    lane = Lane(2, columns=20, span=10, plain=False)
    rows = []
    for step in range(40):
        kind: Kind | None = {4: "expected", 10: "both"}.get(step)  # type: ignore[assignment]
        lane.advance(Fraction(step, 2), [evidence(1, 2)] * 2, kind)
        rows.append(lane.text().plain[3:23])
    assert rows[10].index("◆") == 19  # now is on the right
    assert [row.index("◆") for row in rows[10:30]] == list(range(19, -1, -1))
    assert rows[20].index("◆") - rows[20].index("●") == 6
    assert set(rows[30]) == {"·"}


@given(st.lists(st.tuples(st.floats(0, 3), st.booleans()), max_size=60), st.integers(1, 40))
def test_a_lane_is_always_one_line(steps: list[tuple[float, bool]], columns: int) -> None:
    lane, time = Lane(3, columns, span=7.5, plain=True), Fraction(0)
    for step, happens in steps:
        time += Fraction(step)
        lane.advance(time, [evidence(step, 1.0)] * 3, "both" if happens else None)
    text = lane.text().plain
    assert text.startswith("L3 ")
    assert text.isascii()
    assert "\n" not in text
    if steps:
        assert len(text) == len("L3  9999 of 9999 ") + columns + BAR_WIDTH


@pytest.mark.parametrize(
    ("value", "threshold", "words"),
    [
        (1.0, 2.0, "1.00 of 2.00 ━━━───┃──────"),
        (2.5, 2.0, "2.50 of 2.00 ━━━━━━┃━─────"),
        (900.0, 2.0, " 900 of 2.00 ━━━━━━┃━━━━━━"),
        (123456.0, float("inf"), " 1e5 of inf  ──────┃──────"),
    ],
)
def test_the_gauge(value: float, threshold: float, words: str) -> None:
    lane = Lane(2, columns=8, span=8, plain=False)
    lane.advance(Fraction(0), [evidence(0, 0), evidence(value, threshold)], None)
    assert lane.text().plain.endswith(words)
    before = lane.text()
    lane.advance(Fraction(1), [evidence(0, 0)], None)  # not evaluated: the last values stay, dimmed
    assert lane.text().plain == before.plain
    assert "dim" in str(lane.text().spans[-1].style)


def test_a_view_in_colours() -> None:
    view = TerminalView(console(), "camera  model", levels=3)
    for number in range(60):
        kinds: dict[int, Kind] = {2: "both"} if number % 20 == 5 else {}
        view.show(seen(number, {**kinds, 3: "unexpected"} if number == 45 else kinds))
    text = plain(view)
    assert text[0].startswith("00:00:05.900  frame 59  ")
    assert text[0].endswith("/s  camera  model")
    assert [line[:2] for line in text[1:4]] == ["", "L3", "L2"]
    assert (text[2].count("▲"), text[3].count("◆")) == (1, 3)
    assert sum(UPPER in line for line in text) == 10  # rows of the pictures
    captions = text[-1].split()
    assert captions == ["L2", "00:00:00.500", "L2", "00:00:02.500", "L3", "00:00:04.500"]
    assert all(len(line) <= WIDTH for line in text)
    assert "38;2;255;0;0" in "".join(drawn(view))


def test_256_colours_will_do_and_16_show_no_pictures() -> None:
    for colours, shows in (("256", True), ("standard", False), (None, False)):
        view = TerminalView(console(colours), "camera", levels=2)
        view.show(seen(1, {2: "both"}))
        assert (UPPER in "".join(plain(view))) is shows
    assert TerminalView(console(height=8), "camera", levels=2).gallery is None  # no space


def test_a_terminal_without_unicode_gets_plain_letters() -> None:
    latin = TextIOWrapper(BytesIO(), encoding="ascii")
    view = TerminalView(
        Console(file=latin, force_terminal=True, width=WIDTH, height=30), "camera", 3
    )
    for number in range(30):
        view.show(seen(number, {2: "both", 3: "expected"} if number == 9 else {}))
    text = "".join(plain(view))
    assert text.isascii()
    assert "#" in text


def test_drops_and_delay_are_shown() -> None:
    view = TerminalView(console(), "a very long name " * 20, levels=2)
    view.show(seen(1, dropped=3))
    view.show(seen(9, dropped=4, late=2.4))
    assert plain(view)[1] == "7 frames dropped: the model is too slow; the source is 2 s late"


def test_the_view_is_drawn_a_few_times_a_second() -> None:
    now = 0.0
    view = TerminalView(console(), "camera", levels=2, clock=lambda: now)
    draws: list[float] = []
    view.draw = lambda: (draws.append(now), setattr(view, "_last_drawn", now))  # type: ignore
    for number in range(1000):
        now = number / 500
        view.show(seen(number))
    assert 15 <= len(draws) <= 17


def test_summary_text() -> None:
    summary = {
        "ended": "stopped",
        "frames": 90,
        "dropped": 0,
        "events": {"2": 5, "3": 1},
        "delay_ms": {"median": 1.25, "max": 9.0},
        "late_s": 0.0,
    }
    words = summary_text(summary)
    assert "stopped: 90 frames, none dropped; events: 5 of level 2, 1 of level 3" in words
    assert "--no-realtime" not in words
    worse = summary_text(summary | {"dropped": 4, "late_s": 3.0})
    assert "4 dropped" in worse
    assert "--no-realtime" in worse
    assert "3.0 s behind" in worse


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 9))
def test_half_blocks_are_two_pixels_each(height: int, width: int, seed: int) -> None:
    picture = np.random.default_rng(seed).integers(0, 2, (height, width, 3), np.uint8) * 255
    lines = half_blocks(picture)
    assert len(lines) == (height + 1) // 2
    for y, line in enumerate(lines):
        cells = [segment.style for segment in line for _ in segment.text]
        assert Segment.get_line_length(line) == len(cells) == width
        for x, style in enumerate(cells):
            assert style is not None
            assert style.color.get_truecolor() == tuple(picture[2 * y, x])
            below = tuple(picture[2 * y + 1, x]) if 2 * y + 1 < height else (0, 0, 0)
            assert style.bgcolor.get_truecolor() == below


@pytest.mark.parametrize(("height", "width"), [(360, 640), (640, 360), (9, 16), (2000, 3), (1, 1)])
def test_small_pictures_fit(height: int, width: int) -> None:
    def whole(wide: int) -> np.ndarray:
        wide = min(wide, width)
        return np.zeros((max(round(height * wide / width), 1), wide, 3), np.uint8)

    picture = scaled_to(Frame(whole(width), 0, 0, Fraction(1), whole), columns=20, rows=10)
    assert 1 <= picture.shape[0] <= 20
    assert 1 <= picture.shape[1] <= 20
