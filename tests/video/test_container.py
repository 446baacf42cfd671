"""Video files: every frame once, upright, at its exact time; damage is reported."""

from __future__ import annotations

import io
import sys
from fractions import Fraction
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread

import av
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.video.encode import MILLISECOND, encode, encode_sound, number_of, numbered
from vpr import VPRError
from vpr.video import Fit, open_footage

KINDS = {
    "h264": ("clip.mp4", {}),
    "vp9": ("clip.webm", {"codec": "libvpx-vp9"}),
    "gif": ("clip.gif", {"codec": "gif", "pixels": "rgb8"}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_frame_in_order_at_its_time(tmp_path: Path, kind: str) -> None:
    name, how = KINDS[kind]
    source = open_footage(encode(tmp_path / name, **how))  # type: ignore[arg-type]
    frames = list(source)
    assert [frame.number for frame in frames] == list(range(12))
    assert [number_of(frame.picture) for frame in frames] == pytest.approx(range(12), abs=3)
    assert all(frame.picture.shape == (36, 64, 3) for frame in frames)
    spacing = 40 * MILLISECOND  # all three time bases can say that
    assert [frame.time for frame in frames] == [n * spacing for n in range(12)]
    assert source.problem is None
    assert source.name == str(tmp_path / name)
    assert [f.pts for f in source] == [f.pts for f in frames]  # again, if requested again


def test_a_rate_that_is_no_decimal_number(tmp_path: Path) -> None:
    source = open_footage(encode(tmp_path / "ntsc.mp4", rate=Fraction(30_000, 1001)))
    assert [frame.time for frame in source] == [n * Fraction(1001, 30_000) for n in range(12)]


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    gaps=st.lists(st.integers(1, 5000), min_size=1, max_size=15),
    suffix=st.sampled_from(["mp4", "mkv"]),
)
def test_varying_rates_are_exact(
    gaps: list[int], suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("vfr") / f"clip.{suffix}"
    times = [0, *np.cumsum(gaps).tolist()]
    encode(
        path, len(times), times=times, options={"bf": "2"}
    )  # decoded in another order than shown
    assert [frame.time for frame in open_footage(path)] == [t * MILLISECOND for t in times]


@pytest.mark.parametrize(("turned", "turns"), [(90, 1), (180, 2), (-90, 3)])
def test_rotated_video_is_upright(tmp_path: Path, turned: float, turns: int) -> None:
    path = encode(tmp_path / "turned.mp4", turned=turned)
    (frame, *_) = open_footage(path)
    shown = np.rot90(numbered(0), turns)  # counter-clockwise, as display matrices count
    assert frame.picture.shape == shown.shape
    assert np.abs(frame.picture.astype(int) - shown).mean() < 8
    (fitted, *_) = open_footage(path, fit=Fit(32, 32))
    assert np.abs(fitted.picture.astype(int) - Fit(32, 32)(np.ascontiguousarray(shown))).mean() < 10
    small = fitted.thumbnail(18)
    assert small.shape[:2] == (round(shown.shape[0] * 18 / shown.shape[1]), 18)
    assert (
        np.abs(small.astype(int) - Fit(*small.shape[:2])(np.ascontiguousarray(shown))).mean() < 10
    )


def test_mirrored_video_is_corrected(tmp_path: Path) -> None:
    path = tmp_path / "mirrored.mp4"
    with av.open(str(path), "w") as file:
        stream = file.add_stream("h264", rate=25)
        stream.height, stream.width, stream.pix_fmt = 36, 64, "yuv420p"
        stream.set_display_rotation(0, hflip=True)
        file.mux(stream.encode(av.VideoFrame.from_ndarray(numbered(0), format="rgb24")))
        file.mux(stream.encode())
    (frame,) = open_footage(path)
    assert np.abs(frame.picture.astype(int) - numbered(0)[:, ::-1]).mean() < 8


@pytest.mark.parametrize("size", [(37, 65), (35, 2), (1, 33), (17, 17)])
def test_odd_sizes(tmp_path: Path, size: tuple[int, int]) -> None:
    path = encode(tmp_path / "odd.mkv", 3, codec="libvpx-vp9", size=size)
    frames = list(open_footage(path))
    assert [frame.picture.shape for frame in frames] == [(*size, 3)] * 3
    assert all(f.picture.shape == (16, 48, 3) for f in open_footage(path, fit=Fit(16, 48)))


@pytest.mark.parametrize("mode", ["stretch", "letterbox", "crop"])
@pytest.mark.parametrize("channels", [1, 3])
def test_fitted_while_decoding_or_afterwards(tmp_path: Path, mode: str, channels: int) -> None:
    fit = Fit(32, 32, channels, mode)  # type: ignore[arg-type]
    path = encode(tmp_path / "clip.mp4")
    for whole, fitted in zip(open_footage(path), open_footage(path, fit=fit), strict=True):
        assert fitted.picture.shape == (32, 32, channels)
        assert np.abs(fitted.picture.astype(int) - fit(whole.picture)).mean() < 6
        assert fitted.thumbnail(200).shape == (36, 64, 3)  # never enlarged


def test_times_that_are_missing_are_counted(tmp_path: Path) -> None:
    path = encode(tmp_path / "bare.h264", format="h264", rate=20, options={"bf": "0"})
    frames = list(open_footage(path))
    assert [number_of(frame.picture) for frame in frames] == pytest.approx(range(12), abs=3)
    gaps = {b.time - a.time for a, b in pairwise(frames)}
    assert len(gaps) == 1
    assert gaps.pop() > 0
    frames = list(open_footage(path, rate="10"))
    assert frames[1].time - frames[0].time == Fraction(1, 10)


def test_content_decides_not_the_name(tmp_path: Path) -> None:
    path = encode(tmp_path / "clip.mp4").rename(tmp_path / "holiday photos.txt")
    assert len(list(open_footage(path))) == 12
    text = tmp_path / "text.mp4"
    text.write_text("not a video at all\n" * 50)
    with pytest.raises(VPRError, match=r"text\.mp4 is not a video file$"):
        open_footage(text)
    text = text.rename(tmp_path / "text.txt")
    with pytest.raises(VPRError, match=r"text\.txt is a text"):
        open_footage(text)


@pytest.mark.parametrize("name", ["with spaces.mp4", "Фильм-映画-à:1 %d.mp4", "[1].mp4"])
def test_any_name(tmp_path: Path, name: str) -> None:
    assert len(list(open_footage(encode(tmp_path / "a.mp4").rename(tmp_path / name)))) == 12


def test_one_frame_is_fine(tmp_path: Path) -> None:
    (frame,) = open_footage(encode(tmp_path / "one.mp4", 1))
    assert (frame.number, frame.time) == (0, 0)


def test_sound_alone(tmp_path: Path) -> None:
    with pytest.raises(VPRError, match=r"a\.m4a has sound but no video: give a video"):
        open_footage(encode_sound(tmp_path / "a.m4a"))


def test_missing_empty_and_folders(tmp_path: Path) -> None:
    with pytest.raises(VPRError, match=r"gone\.mp4 does not exist"):
        open_footage(tmp_path / "gone.mp4")
    (tmp_path / "empty.mp4").touch()
    with pytest.raises(VPRError, match=r"empty\.mp4 cannot be read as video"):
        open_footage(tmp_path / "empty.mp4")


def test_gigantic_frames_are_refused_before_they_are_made(tmp_path: Path) -> None:
    path = encode(tmp_path / "huge.gif", 2, codec="gif", pixels="rgb8")
    data = bytearray(path.read_bytes())
    data[6:10] = b"\xff\xff\xff\xff"  # 65535 × 65535
    path.write_bytes(data)
    with pytest.raises(VPRError, match=r"huge\.gif .* more than 8192×8192"):
        list(open_footage(path))


@pytest.mark.parametrize("kind", ["h264", "vp9"])  # a GIF does not say how long it should be
def test_cut_short_gives_what_is_there_and_says_so(tmp_path: Path, kind: str) -> None:
    name, how = KINDS[kind]
    pictures = [np.random.default_rng(i).integers(0, 255, (36, 64, 3), np.uint8) for i in range(30)]
    options = {"movflags": "faststart"} if kind == "h264" else {}
    path = encode(tmp_path / name, pictures, rate=5, options=options, **how)  # type: ignore[arg-type]
    if kind == "h264":
        _index_first(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    source = open_footage(path)
    count = len(list(source))
    assert 5 < count < 30
    assert source.problem is not None
    assert source.problem.endswith(f"is damaged or cut short: {count} frames were read")


def test_a_hole_in_the_middle(tmp_path: Path) -> None:
    pictures = [np.random.default_rng(i).integers(0, 255, (36, 64, 3), np.uint8) for i in range(30)]
    path = encode(tmp_path / "hole.mp4", pictures, options={"g": "5"})
    data = bytearray(path.read_bytes())
    data[len(data) // 3 : len(data) // 3 + 4000] = bytes(4000)
    path.write_bytes(data)
    source = open_footage(path)
    assert 15 < len(list(source)) <= 30
    assert source.problem is not None


def test_devices_and_generators_of_pyav() -> None:
    source = open_footage("testsrc=size=64x48:rate=10:duration=1", format="lavfi", fit=Fit(16, 16))
    frames = list(source)
    assert [frame.time for frame in frames] == [Fraction(n, 10) for n in range(10)]
    assert len({frame.picture.tobytes() for frame in frames}) == 10
    with pytest.raises(VPRError, match="cannot open"):
        open_footage("anything", format="no-such-format")


def test_a_url(tmp_path: Path) -> None:
    encode(tmp_path / "clip.mp4")
    handler = partial(Quiet, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        assert len(list(open_footage(f"{address}/clip.mp4", fit=Fit(16, 16)))) == 12
        with pytest.raises(VPRError, match=r"gone\.mp4 cannot be read as video"):
            open_footage(f"{address}/gone.mp4")
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        pass


def test_without_pyav(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = encode(tmp_path / "clip.mp4")
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(VPRError, match=r"needs PyAV: pip install 'vpr-torch\[video\]'"):
        open_footage(path)


def test_a_video_on_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = encode(tmp_path / "a.mkv").read_bytes()
    monkeypatch.setattr(sys, "stdin", type("In", (), {"buffer": io.BytesIO(data)}))
    source = open_footage("-")
    assert source.name == "standard input"
    assert len(list(source)) == 12


def _index_first(path: Path) -> None:
    """Written again with the index before the frames, as for the web."""
    other = path.with_suffix(".first.mp4")
    with (
        av.open(str(path)) as old,
        av.open(str(other), "w", options={"movflags": "faststart"}) as new,
    ):
        stream = new.add_stream_from_template(old.streams.video[0])
        for packet in old.demux(video=0):
            if packet.size:
                packet.stream = stream
                new.mux(packet)
    other.replace(path)
