"""Small encoded videos whose pictures show their number."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

MILLISECOND = Fraction(1, 1000)


def numbered(number: int, height: int = 36, width: int = 64) -> NDArray[np.uint8]:
    """A picture whose brightness is its number, with a bright bar along the top and a red left."""
    picture = np.full((height, width, 3), 20 + 6 * (number % 32), dtype=np.uint8)
    picture[: height // 4] = 250
    picture[height // 4 :, : width // 4] = (200, 0, 0)
    return picture


def number_of(picture: NDArray[np.uint8]) -> int:
    """The number of a picture, from its lower right part."""
    height, width = picture.shape[:2]
    inner = picture[height // 2 : -2 or None, width // 2 : -2 or None]
    return round((float(inner.mean()) - 20) / 6)


def encode(
    path: Path,
    frames: int | Sequence[NDArray[np.uint8]] = 12,
    *,
    codec: str = "h264",
    pixels: str = "yuv420p",
    rate: Fraction | int = 25,
    times: Sequence[int] | None = None,
    size: tuple[int, int] = (36, 64),
    turned: float = 0,
    format: str | None = None,
    options: dict[str, str] | None = None,
) -> Path:
    """A video; `times` in milliseconds where the rate varies."""
    pictures = [numbered(i, *size) for i in range(frames)] if isinstance(frames, int) else frames
    with av.open(str(path), "w", format=format) as file:
        stream = file.add_stream(codec, rate=rate)
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = pixels
        stream.options = options or {}
        if times is not None:
            stream.codec_context.time_base = stream.time_base = MILLISECOND
        if turned:
            stream.set_display_rotation(turned)
        for number, picture in enumerate(pictures):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            if times is not None:
                frame.pts, frame.time_base = times[number], MILLISECOND
            if codec == "gif":
                frame = frame.reformat(format=pixels)
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
    return path


def encode_sound(path: Path) -> Path:
    """A second of silent audio, without video."""
    with av.open(str(path), "w") as file:
        stream = file.add_stream("aac", rate=44_100)
        for start in range(0, 44_100, 1024):
            samples = np.zeros((1, 1024), dtype=np.float32)
            frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="mono")
            frame.sample_rate, frame.pts = 44_100, start
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
    return path
