"""Write MP4 files with PyAV."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from vpr.utils.files import write_atomically
from vpr.video.frames import Picture


def can_write_mp4() -> bool:
    return find_spec("av") is not None


def write_mp4(path: Path, pictures: Iterable[Picture], milliseconds: int) -> None:
    """Encode pictures of one size with even sides, each shown for `milliseconds`.

    Pictures are read one by one, so the video may be larger than the memory.
    """
    write_atomically(path, lambda temporary: _encode(temporary, pictures, milliseconds))


def _encode(path: Path, pictures: Iterable[Picture], milliseconds: int) -> None:
    import av

    left = iter(pictures)
    first = next(left)
    with av.open(path, "w", format="mp4") as file:
        stream = file.add_stream("h264", rate=Fraction(1000, milliseconds))
        stream.height, stream.width = first.shape[:2]
        stream.pix_fmt = "yuv420p"  # which every player supports
        stream.options = {"crf": "15"}  # high quality, which small saturated shapes need
        stream.thread_count = 1  # so that the file does not depend on the machine
        for picture in chain([first], left):
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode())
