"""Decode the frames of a stream, skipping damage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vpr.video.pyav import MAX_PIXELS

MAX_MISSING = 1.0  # seconds; a last frame without a duration may last as long


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
