"""MP4 files, by PyAV if it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

from vpr.files import write_atomically
from vpr.films.pictures import Pixels


def can_write_mp4() -> bool:
    return find_spec("av") is not None


def write_mp4(path: Path, pictures: Sequence[Pixels], milliseconds: int) -> None:
    """Pictures of one size, whose sides are even, each shown for so long."""
    write_atomically(path, lambda temporary: _encode(temporary, pictures, milliseconds))


def _encode(path: Path, pictures: Sequence[Pixels], milliseconds: int) -> None:
    import av

    with av.open(path, "w", format="mp4") as file:
        stream = file.add_stream("h264", rate=Fraction(1000, milliseconds))
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = "yuv420p"  # what every player knows
        stream.options = {"crf": "15"}  # small saturated shapes suffer first
        for picture in pictures:
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode())
