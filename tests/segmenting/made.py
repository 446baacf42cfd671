"""Timelines and footage for the tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, settings
from numpy.typing import NDArray

from vpr.segmenting.timeline import Curves, Event, Timeline
from vpr.video import Frame

Pictures = NDArray[np.uint8]

# A busy machine is not an error.
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40)


def event(
    frame: int,
    level: int = 2,
    kl_static: float = 2.0,
    time: Fraction | None = None,
    threshold: float = 1.0,
) -> Event:
    at = time if time is not None else Fraction(frame, 25)
    return Event(frame, at, level, "both", kl_static, 1.0, threshold)


def timeline(events: Sequence[Event], frames: int = 100, levels: int = 3) -> Timeline:
    """At 25 frames per second."""
    rng = np.random.default_rng(0)
    curve = rng.random(frames, dtype=np.float32)
    curve[3:4] = np.nan
    curves = {n: Curves(curve, curve + n, curve * 0 + 1) for n in range(2, levels + 1)}
    return Timeline(
        "films/ä clip.mp4",
        "a model",
        levels,
        frames,
        np.arange(frames) / 25,
        sorted(events),
        curves,
        {0: b"\xff\xd8one", 7: b"\xff\xd8two"},
        (Fraction(0), Fraction(frames, 25)),
        "it is damaged",
    )


def scenes(frames: int, size: int = 16, seed: int = 0, scene: int = 6) -> Pictures:
    """(T, H, W, 3): random pictures, each for some frames, with a little grain."""
    rng = np.random.default_rng(seed)
    worlds = rng.integers(0, 256, (frames // scene + 1, size, size, 3))
    shown = worlds.repeat(scene, 0)[:frames]
    return (shown + rng.integers(-6, 7, shown.shape)).clip(0, 255).astype(np.uint8)


def frames_of(pictures: Pictures, base: Fraction = Fraction(1, 25)) -> Iterator[Frame]:
    return (Frame(picture, n, n, base) for n, picture in enumerate(pictures))


def write_video(path: Path, pictures: Pictures, fast_start: bool = False) -> None:
    """h264 in MP4, enlarged eightfold so that little is lost, 25 frames a second."""
    import av

    options = {"movflags": "faststart"} if fast_start else {}
    with av.open(str(path), "w", format="mp4", options=options) as file:
        stream = file.add_stream("h264", rate=25)
        stream.height, stream.width = (8 * side for side in pictures.shape[1:3])
        stream.pix_fmt = "yuv420p"
        stream.options = {"preset": "ultrafast", "crf": "10", "g": "10"}
        for picture in pictures:
            large = np.ascontiguousarray(picture.repeat(8, 0).repeat(8, 1))
            file.mux(stream.encode(av.VideoFrame.from_ndarray(large, format="rgb24")))
        file.mux(stream.encode())
