"""`vpr watch` from the user's side: files, pipes and live sources, and all ways to end."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import av
import numpy as np
import pytest

from tests.cli.test_cli import vpr
from vpr import VPR, Stream, VPRError
from vpr.cli import main
from vpr.data import MovingBall, evaluation_rng
from vpr.evaluation.boundary_files import read_marks
from vpr.segmenting.inputs import ModelInput
from vpr.video import Fit, open_footage
from vpr.watching.feed import Arrival
from vpr.watching.watcher import WatchedFrame, Watcher

Capture = pytest.CaptureFixture[str]
FRAMES, SIDE = 60, 64
PATIENCE = 120  # seconds for a process to end; machines can be busy


@pytest.fixture(scope="module")
def pictures() -> np.ndarray:
    frames = MovingBall().batch(1, FRAMES, evaluation_rng(3)).frames[0]
    return (frames.transpose(0, 2, 3, 1) * 255).round().astype(np.uint8)


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory, pictures: np.ndarray) -> Path:
    """At uneven times, as a phone would film it."""
    path = tmp_path_factory.mktemp("films") / "a ball.mkv"
    with av.open(path, "w") as file:
        stream = file.add_stream("ffv1", rate=Fraction(25))
        stream.width, stream.height, stream.pix_fmt = SIDE, SIDE, "bgr0"
        stream.codec_context.time_base = Fraction(1, 1000)
        for n, picture in enumerate(pictures):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = n * 40 + 7 * (n % 3), Fraction(1, 1000)
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
    return path


@pytest.fixture(scope="module")
def expected(film: Path) -> list[tuple[int, float, int]]:
    """By `vpr.Stream` on the same frames: frame, time and level of each event."""
    model = VPR.from_pretrained("moving-ball")
    stream, pixels = Stream(model), ModelInput(model)
    found = []
    for frame in open_footage(film, fit=Fit.to(model.config.frame)):
        for event in stream.push(pixels([frame.picture])[0]):
            found.append((frame.number, float(frame.time), event.level))
    assert len(found) > 5
    return found


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def events(told: list[dict[str, Any]]) -> list[tuple[int, float, int]]:
    return [(line["frame"], line["time"], line["level"]) for line in told if "level" in line]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """A real process, ended with the test."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    started: list[subprocess.Popen[bytes]] = []

    def run(*words: object, **streams: Any) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "vpr", "watch", *map(str, words), "--model", "moving-ball"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        started.append(subprocess.Popen(command, **pipes))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate()


def test_a_file_is_watched_frame_by_frame(
    film: Path, expected: list[tuple[int, float, int]], capsys: Capture, tmp_path: Path
) -> None:
    code, out, err = vpr(capsys, "watch", film, "--model", "moving-ball")
    assert (code, err) == (0, "")
    told = lines(out)
    assert events(told) == expected
    summary = told[-1]["summary"]
    assert (summary["ended"], summary["frames"], summary["dropped"]) == ("end of source", FRAMES, 0)
    assert summary["events"] == {"2": len(expected)}
    assert 0 < summary["delay_ms"]["median"] <= summary["delay_ms"]["max"]
    assert set(told[0]) >= {"kind", "score", "kl_static", "kl_change", "threshold"}
    (tmp_path / "live.jsonl").write_text(out)
    assert [mark.frame for mark in read_marks(tmp_path / "live.jsonl").marks] == [
        frame for frame, _, _ in expected
    ]


def test_another_threshold(film: Path, expected: list[object], capsys: Capture) -> None:
    words = ["watch", film, "--model", "moving-ball", "--threshold", 0.001, "--json"]
    code, out, _ = vpr(capsys, *words)
    assert code == 0
    assert len(events(lines(out))) > len(expected)


def test_a_file_in_real_time_takes_its_time(
    film: Path, expected: list[tuple[int, float, int]], capsys: Capture
) -> None:
    started = monotonic()
    code, out, _ = vpr(capsys, "watch", film, "--model", "moving-ball", "--realtime")
    assert code == 0
    assert monotonic() - started >= (FRAMES - 1) / 25
    told = lines(out)
    summary = told[-1]["summary"]
    dropped = sum(line["dropped"] for line in told if "dropped" in line)
    assert summary["frames"] + dropped == FRAMES
    assert summary["dropped"] == dropped
    if not dropped:  # a busy machine may be too slow, which is reported
        assert events(told) == expected


def test_what_comes_too_fast_is_dropped_and_told(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = Watcher.process

    def slowly(self: Watcher, arrival: Arrival) -> WatchedFrame:
        sleep(0.01)
        return process(self, arrival)

    monkeypatch.setattr(Watcher, "process", slowly)
    flood = f"testsrc=size={SIDE}x{SIDE}:rate=25:duration=4"  # as fast as it can be drawn
    words = ["watch", flood, "--format", "lavfi", "--model", "moving-ball"]
    code, out, _ = vpr(capsys, *words)
    told = lines(out)
    summary = told[-1]["summary"]
    assert code == 0
    assert summary["dropped"] > 0
    assert sum(line["dropped"] for line in told if "dropped" in line) == summary["dropped"]
    assert summary["frames"] + summary["dropped"] == 100
    code, out, _ = vpr(capsys, *words, "--no-realtime")
    summary = lines(out)[-1]["summary"]
    assert (summary["frames"], summary["dropped"]) == (100, 0)


def test_a_pipe_is_told_of_while_it_lasts_and_stopped(
    start: Callable[..., subprocess.Popen[bytes]], pictures: np.ndarray
) -> None:
    """The first event is on standard output before the next frame is; Ctrl-C then ends it, though
    the pipe is open."""
    process = start("-", "--size", f"{SIDE}x{SIDE}", stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    for picture in (pictures[0], pictures[0], 255 - pictures[30]):
        process.stdin.write(picture.tobytes())
    process.stdin.flush()
    first = json.loads(process.stdout.readline())
    assert (first["frame"], first["time"], first["level"]) == (2, 0.08, 2)
    process.send_signal(signal.SIGINT)
    rest = lines(process.stdout.read().decode())
    assert process.wait(PATIENCE) == 0
    assert rest[-1]["summary"]["ended"] == "stopped"
    assert rest[-1]["summary"]["frames"] in (2, 3)  # it is counted after it is printed
    assert process.stderr is not None
    assert process.stderr.read() == b""


@pytest.mark.parametrize("options", [(), ("--no-realtime", "--size", f"{SIDE}x{SIDE}")])
def test_a_pipe_that_sends_nothing_can_be_stopped(
    start: Callable[..., subprocess.Popen[bytes]], options: tuple[str, ...]
) -> None:
    process = start("-", *options, stdin=subprocess.PIPE)
    sleep(6)  # until it waits for the pipe
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) in (0, 130)
    assert process.stderr is not None
    assert process.stderr.read() in (b"", b"vpr: stopped\n")


def test_a_reader_that_goes_away_ends_it_quietly(
    start: Callable[..., subprocess.Popen[bytes]],
) -> None:
    process = start(
        "testsrc=size=64x64:rate=25,realtime", "--format", "lavfi", "--threshold", "0.01"
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(PATIENCE) == 1
    assert process.stderr is not None
    assert process.stderr.read() == b""


class Screen:
    """A pseudo terminal as standard output, and what was written to it."""

    def __init__(self) -> None:
        self.side, theirs = pty.openpty()
        self.file = os.fdopen(theirs, "w", encoding="utf-8")
        self.written = b""
        self.reading = Thread(target=self.read)
        self.reading.start()

    def read(self) -> None:
        with suppress(OSError):  # how Linux tells that the other side is closed
            while piece := os.read(self.side, 65536):
                self.written += piece
        os.close(self.side)

    def text(self) -> str:
        self.file.close()
        self.reading.join()
        return self.written.decode()


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    size = {"COLUMNS": "90", "LINES": "30"}
    for name, value in {"TERM": "xterm", "COLORTERM": "truecolor", **size}.items():
        monkeypatch.setenv(name, value)
    return Screen()


def test_a_terminal_gets_a_view(
    film: Path, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", screen.file)
    assert main(["watch", str(film), "--model", "moving-ball"]) == 0
    text = screen.text()
    assert "frame 59" in text
    assert "▀" in text
    assert "end of source: 60 frames, none dropped; events:" in text
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")  # the cursor is back


def test_a_terminal_is_left_as_it_was_whatever_happens(
    film: Path, screen: Screen, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    process = Watcher.process

    def break_down(self: Watcher, arrival: Arrival) -> WatchedFrame:
        if arrival.frame.number == 9:
            raise VPRError("the camera fell down")
        return process(self, arrival)

    monkeypatch.setattr(Watcher, "process", break_down)
    monkeypatch.setattr(sys, "stdout", screen.file)
    assert main(["watch", str(film), "--model", "moving-ball", "--realtime"]) == 2
    text = screen.text()
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")
    assert "the camera fell down" in capfd.readouterr().err


def test_what_cannot_be_is_one_line(film: Path, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "words.mp4").write_text("no film")
    for words, said in (
        ([tmp_path / "none.mp4"], "none.mp4 does not exist"),
        ([tmp_path / "words.mp4"], "words.mp4"),
        ([film, "--span", "0"], "--span must be above 0 seconds"),
        (["-", "--size", "64"], "expected a size like 640x360, got 64"),
        ([film, "--fit", "melt"], "invalid choice: 'melt'"),
    ):
        code, out, err = vpr(capsys, "watch", *words, "--model", "moving-ball")
        assert (code, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1


def test_a_film_that_breaks_off_is_watched_and_told(
    film: Path, tmp_path: Path, capsys: Capture
) -> None:
    broken = tmp_path / "broken.mkv"
    broken.write_bytes(film.read_bytes()[: film.stat().st_size * 2 // 3])
    code, out, err = vpr(capsys, "watch", broken, "--model", "moving-ball")
    assert 10 < lines(out)[-1]["summary"]["frames"] < FRAMES
    if err:  # a container that lists no frames does not know what it lacks
        assert (code, err.count("\n")) == (1, 1)
