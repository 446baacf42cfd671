"""Raw frames on standard input, as `ffmpeg -f rawvideo -pix_fmt rgb24 -` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import IO

import numpy as np

from vpr.errors import VPRError
from vpr.video.fit import Fit, untimed_frame
from vpr.video.frames import Frame
from vpr.video.pyav import MAX_PIXELS


class RawPipe:
    """Frames of rgb24 bytes of one size and rate."""

    expected: int | None = None

    def __init__(
        self,
        name: str,
        file: IO[bytes],
        size: tuple[int, int],
        rate: Fraction,
        fit: Fit | None = None,
    ) -> None:
        self.name, self.file, self.rate, self.fit = name, file, rate, fit
        self.problem: str | None = None
        self.undecodable = 0
        self.width, self.height = size
        if min(size) < 1 or self.width * self.height > MAX_PIXELS:
            raise VPRError(f"size must be between 1×1 and 8192×8192, got {size[0]}×{size[1]}")

    def __iter__(self) -> Iterator[Frame]:
        size = self.height * self.width * 3
        number = 0
        while len(data := self.file.read(size)) == size:  # waits for a complete frame
            whole = np.frombuffer(data, np.uint8).reshape(self.height, self.width, 3)
            yield untimed_frame(whole, number, self.rate, self.fit)
            number += 1
        if number == 0:
            raise VPRError(f"{self.name} has no complete frame of {self.width}×{self.height} rgb24")
        if data:
            self.undecodable = 1
            self.problem = f"{self.name} ended within a frame: {number} frames were read"
