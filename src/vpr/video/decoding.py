"""A stream's packets to its frames, past whatever is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vpr.video.pyav import LARGEST

LATE = 1.0  # seconds that a last frame may stay without saying so


class Decoding:
    """The frames of a stream as PyAV has them; what cannot be decoded is counted and left out."""

    def __init__(self, container: Any, stream: Any) -> None:
        self.container, self.stream = container, stream
        self.damage = 0
        self._first: Exception | None = None

    def reason(self) -> str:
        """Why there was nothing."""
        if not self.stream.width * self.stream.height:
            return "its size is not stated, or more than 8192×8192"
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
        """To the end, or to where the file breaks off: then None empties the decoder."""
        import av

        try:
            yield from self.container.demux(self.stream)
        except (av.FFmpegError, OSError) as error:
            self.note(error)
            yield None

    def _decoded(self, packet: Any) -> Iterator[Any]:
        import av

        try:
            frames = self.stream.decode(packet)
        except (av.FFmpegError, OSError) as error:
            return self.note(error)
        yield from (frame for frame in frames if frame.width * frame.height <= LARGEST)

    def note(self, error: Exception) -> None:
        self.damage += 1
        self._first = self._first or error

    def _is_short(self, packets: int, reached: int) -> bool:
        """Some formats state at their beginning what is to come: was it less?"""
        kind, stream = self.container.format.name, self.stream
        if kind.startswith("mov"):  # lists all packets
            return packets < len(stream.index_entries)
        if kind.startswith("matroska") and len(self.container.streams) == 1:  # and nothing else
            missing = (self.container.duration or 0) / 1e6 - float(reached * stream.time_base)
            return missing > LATE
        return False
