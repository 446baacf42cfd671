"""Footage that PyAV decodes: files, network streams, devices, pipes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from vpr.errors import VPRError
from vpr.video.decoding import Decoding
from vpr.video.fit import Fit
from vpr.video.frames import Frame, Picture
from vpr.video.orientation import Orientation, frame_orientation
from vpr.video.pyav import Opening, open_container, require_av, video_stream
from vpr.video.rates import DEFAULT_RATE, Clock


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
