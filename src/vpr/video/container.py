"""Footage that PyAV decodes: files, network streams, devices, pipes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vpr.errors import VPRError
from vpr.video.fit import Fit
from vpr.video.frames import Frame, Picture
from vpr.video.pyav import MAX_PIXELS, Opening, open_container, require_av, video_stream
from vpr.video.rates import DEFAULT_RATE

MAX_MISSING = 1.0  # seconds; a last frame without a duration may last as long


class Container:
    """Frames of the best video stream, decoded in one thread by default.

    libswscale scales each frame from the planes of the decoder, without a full-size picture.
    """

    def __init__(self, opening: Opening, fit: Fit | None = None) -> None:
        require_av()
        from av.video.reformatter import VideoReformatter

        self.opening, self.fit = opening, fit
        self.problem: str | None = None
        self.undecodable = 0
        self._container: Any = open_container(opening)  # now, so that errors are raised at once
        self.expected = _expected(video_stream(self._container, opening.name))
        # Kept, because setting one up takes longer than scaling a frame.
        self._fitting, self._shrinking = VideoReformatter(), VideoReformatter()

    @property
    def name(self) -> str:
        return self.opening.name

    def __iter__(self) -> Iterator[Frame]:
        container = self._container if self._container is not None else open_container(self.opening)
        self._container, self.problem, self.undecodable = None, None, 0
        with container:
            yield from self._read(container, video_stream(container, self.name))

    def _read(self, container: Any, stream: Any) -> Iterator[Frame]:
        import av

        base = stream.time_base or 1 / DEFAULT_RATE
        clock = Clock(base, self.opening.rate or stream.average_rate or DEFAULT_RATE)
        decoding = Decoding(container, stream)
        orientation, number = Orientation(), 0
        for frame in decoding:
            if number == 0:
                orientation = frame_orientation(frame)
            try:
                picture = self._picture(frame, orientation)
            except (av.FFmpegError, ValueError) as error:  # a frame that cannot be converted
                decoding.undecodable += 1
                decoding.add_damage(error)
                continue
            whole = partial(self._whole, frame, orientation)
            yield Frame(picture, number, clock(frame.pts), base, whole)
            number += 1
        self.undecodable = decoding.undecodable
        if number == 0:
            raise VPRError(f"{self.name} has no frame that can be decoded: {decoding.reason()}")
        if decoding.damage:
            self.problem = f"{self.name} is damaged or cut short: {number} frames were read"

    def _picture(self, frame: Any, orientation: Orientation) -> Picture:
        height, width = orientation.size(frame.height, frame.width)
        fit = self.fit
        if fit is None:
            return orientation(_pixels(self._fitting, frame, frame.height, frame.width, "rgb24"))
        size = orientation.size(*fit.scaled(height, width))
        picture = _pixels(self._fitting, frame, *size, "gray" if fit.channels == 1 else "rgb24")
        return fit.place(orientation(picture))

    def _whole(self, frame: Any, orientation: Orientation, width: int) -> Picture:
        high, wide = orientation.size(frame.height, frame.width)
        width = min(width, wide)
        size = orientation.size(max(round(high * width / wide), 1), width)
        return orientation(_pixels(self._shrinking, frame, *size, "rgb24"))


def _pixels(reformatter: Any, frame: Any, height: int, width: int, kind: str) -> Picture:
    """Scale a frame to (height, width, 3 or 1) by averaging, in this thread."""
    small = reformatter.reformat(
        frame, width, height, kind, interpolation="AREA", dst_color_range="JPEG", threads=1
    )
    pixels: Picture = small.to_ndarray()
    return pixels[..., None] if kind == "gray" else pixels


def _expected(stream: Any) -> int | None:
    if stream.frames:
        return int(stream.frames)
    duration = _seconds(stream)
    return round(duration * stream.average_rate) if duration and stream.average_rate else None


def _seconds(stream: Any) -> Fraction | None:
    """The duration of the stream, or of its file."""
    if stream.duration and stream.time_base:
        return Fraction(stream.duration * stream.time_base)
    whole = stream.container.duration
    return Fraction(whole, 1_000_000) if whole and whole > 0 else None


class Clock:
    """Makes presentation times increase.

    A time that is missing, or not later than the one before, is replaced by one frame later.
    """

    def __init__(self, time_base: Fraction, rate: Fraction) -> None:
        self.step = max(round(1 / (rate * time_base)), 1)
        self.last: int | None = None

    def __call__(self, pts: int | None) -> int:
        if self.last is None:
            self.last = pts if pts is not None else 0
        elif pts is None or pts <= self.last:
            self.last += self.step
        else:
            self.last = pts
        return self.last


class Decoding:
    """PyAV frames of a stream; packets that cannot be decoded are counted and skipped."""

    def __init__(self, container: Any, stream: Any) -> None:
        self.container, self.stream = container, stream
        self.damage = 0
        self.undecodable = 0  # frames
        self._first: Exception | None = None

    def reason(self) -> str:
        """Why no frame could be decoded."""
        if not self.stream.width * self.stream.height:
            return (
                "its size is not stated, or more than 8192×8192, or impossible for so small a file"
            )
        return str(getattr(self._first, "strerror", None) or "it is empty or cut short")

    def __iter__(self) -> Iterator[Any]:
        packets, reached = 0, 0
        for packet in self._packets():
            if packet is not None and packet.size:
                packets += 1
                reached = max(reached, (packet.pts or 0) + (packet.duration or 0))
                self.damage += packet.is_corrupt
            yield from self._decoded(packet)
        self.damage += self._is_short(packets, reached)

    def _packets(self) -> Iterator[Any]:
        """All packets; if the file is cut short, a final None flushes the decoder."""
        import av

        try:
            yield from self.container.demux(self.stream)
        except (av.FFmpegError, OSError) as error:
            self.add_damage(error)
            yield None

    def _decoded(self, packet: Any) -> Iterator[Any]:
        import av

        try:
            frames = self.stream.decode(packet)
        except (av.FFmpegError, OSError) as error:
            self.undecodable += 1
            return self.add_damage(error)
        for frame in frames:
            if frame.width * frame.height <= MAX_PIXELS:
                yield frame
            else:
                self.undecodable += 1

    def add_damage(self, error: Exception) -> None:
        self.damage += 1
        self._first = self._first or error

    def _is_short(self, packets: int, reached: int) -> bool:
        """Whether there were fewer packets than the header of the file states."""
        kind, stream = self.container.format.name, self.stream
        if kind.startswith("mov"):  # lists all packets
            missing = len(stream.index_entries) - packets
            self.undecodable += max(missing, 0)
            return missing > 0
        if kind.startswith("matroska") and len(self.container.streams) == 1:  # no other stream
            unseen = (self.container.duration or 0) / 1e6 - float(reached * stream.time_base)
            return unseen > MAX_MISSING
        return False


class Orientation(NamedTuple):
    """A rotation or mirroring: rows and columns are swapped first, then reversed."""

    swap: bool = False
    columns: bool = False
    rows: bool = False

    def __call__(self, picture: Picture) -> Picture:
        if self.swap:
            picture = picture.swapaxes(0, 1)
        steps = (
            slice(None, None, -1 if self.rows else 1),
            slice(None, None, -1 if self.columns else 1),
        )
        return np.ascontiguousarray(picture[steps])

    def size(self, height: int, width: int) -> tuple[int, int]:
        """Height and width after the rotation (or before it, given those after)."""
        return (width, height) if self.swap else (height, width)


def orientation_from_matrix(matrix: bytes | None) -> Orientation:
    """The orientation nearest to a display matrix of nine 32-bit integers, row by row.

    It maps (x, y) to (a·x + c·y, b·x + d·y), with y pointing down.
    """
    if matrix is None or len(matrix) < 36:
        return Orientation()
    a, b, _, c, d = np.frombuffer(matrix, dtype="=i4", count=5).astype(float)
    if abs(b) + abs(c) > abs(a) + abs(d):
        return Orientation(swap=True, columns=c < 0, rows=b < 0)
    return Orientation(columns=a < 0, rows=d < 0)


def frame_orientation(frame: Any) -> Orientation:
    """The orientation of an av.VideoFrame."""
    try:
        found = frame.side_data.get("DISPLAYMATRIX")
    except ValueError:  # side data of a kind that PyAV does not know
        return Orientation()
    return orientation_from_matrix(None if found is None else bytes(found))
