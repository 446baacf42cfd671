"""Footage to measure with: textured scenes that pan, 640×360, h264."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

HEIGHT, WIDTH, RATE = 360, 640, 25
SCENE = 100  # frames from cut to cut


def write_scenes(path: Path, frames: int, seed: int = 0) -> None:
    """So many frames, a cut every four seconds; about the bits of a video call."""
    import av

    with av.open(str(path), "w") as file:
        stream = file.add_stream("h264", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.options = {"preset": "veryfast"}
        for picture in _scenes(frames, np.random.default_rng(seed)):
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode())


def write_repeated(path: Path, once: Path, times: int) -> None:
    """The packets of a file over and over, without encoding them again."""
    import av

    with av.open(str(path), "w") as file:
        out: Any = None
        shift = 0
        for _ in range(times):
            with av.open(str(once)) as source:
                given: Any = source.streams.video[0]
                out = out or file.add_stream_from_template(given)
                for packet in source.demux(given):
                    if packet.pts is None or packet.dts is None:  # the end
                        continue
                    packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
                    packet.stream = out
                    file.mux(packet)
                shift += given.duration


def _scenes(frames: int, rng: np.random.Generator) -> Iterator[NDArray[np.uint8]]:
    for number in range(frames):
        place = number % SCENE
        if place == 0:
            world = _texture(rng)
        yield np.ascontiguousarray(world[:, 2 * place : 2 * place + WIDTH])


def _texture(rng: np.random.Generator) -> NDArray[np.uint8]:
    """Coarse patches of colour with finer ones on them, wider than a frame."""
    size = WIDTH + 2 * SCENE, HEIGHT
    whole = np.zeros((size[1], size[0], 3))
    for cells, weight in ((6, 0.6), (40, 0.3), (160, 0.1)):
        noise = rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8)
        layer = Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC)
        whole += weight * np.asarray(layer)
    return whole.clip(0, 255).astype(np.uint8)
