"""Generated footage for benchmarks: panning textured scenes, 640×360, h264."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

HEIGHT, WIDTH, RATE = 360, 640, 25
SCENE = 100  # frames between cuts


def write_scenes(path: Path, frames: int, seed: int = 0) -> None:
    """Write a video with a cut every four seconds; its bit rate is about that of a video call."""
    import av

    with av.open(str(path), "w") as file:
        stream = file.add_stream("h264", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.options = {"preset": "veryfast"}
        for picture in _scenes(frames, np.random.default_rng(seed)):
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode())


def write_repeated(path: Path, source: Path, times: int) -> None:
    """Repeat the packets of a video file, without encoding them again."""
    import av

    with av.open(str(path), "w") as file:
        out: Any = None
        shift = 0
        for _ in range(times):
            with av.open(str(source)) as opened:
                stream: Any = opened.streams.video[0]
                out = out or file.add_stream_from_template(stream)
                for packet in opened.demux(stream):
                    if packet.pts is None or packet.dts is None:  # end of the stream
                        continue
                    packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
                    packet.stream = out
                    file.mux(packet)
                shift += stream.duration


def _scenes(frames: int, rng: np.random.Generator) -> Iterator[NDArray[np.uint8]]:
    for number in range(frames):
        place = number % SCENE
        if place == 0:
            texture = _texture(rng)
        yield np.ascontiguousarray(texture[:, 2 * place : 2 * place + WIDTH])


def _texture(rng: np.random.Generator) -> NDArray[np.uint8]:
    """Noise of three spatial scales, wider than a frame."""
    size = WIDTH + 2 * SCENE, HEIGHT
    whole = np.zeros((size[1], size[0], 3))
    for cells, weight in ((6, 0.6), (40, 0.3), (160, 0.1)):
        noise = rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8)
        layer = Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC)
        whole += weight * np.asarray(layer)
    return whole.clip(0, 255).astype(np.uint8)
