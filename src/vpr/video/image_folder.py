"""A folder of pictures as footage, one picture per frame, in natural order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from vpr.errors import VPRError
from vpr.video.fit import Fit, untimed_frame
from vpr.video.frames import Frame, Picture
from vpr.video.pyav import max_pixels

IMAGES = frozenset([".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm"])


class ImageFolder:
    """Pictures of any size; those that cannot be read are skipped and reported."""

    def __init__(
        self, name: str, files: list[Path], rate: Fraction, fit: Fit | None = None
    ) -> None:
        self.name, self.files, self.rate, self.fit = name, files, rate, fit
        self.expected: int | None = len(files)
        self.problem: str | None = None
        self.undecodable = 0

    def __iter__(self) -> Iterator[Frame]:
        broken: list[str] = []
        self.problem = None
        number = 0
        for file in self.files:
            whole = _read(file)
            if whole is None:
                broken.append(file.name)
                continue
            yield untimed_frame(whole, number, self.rate, self.fit)
            number += 1
        if number == 0:
            raise VPRError(f"{self.name} has no readable picture")
        self.undecodable = len(broken)
        if broken:
            damage = f"{len(broken)} of {len(self.files)} pictures cannot be read"
            self.problem = f"{self.name}: {damage}, the first is {broken[0]}"


def natural(path: Path) -> list[tuple[int, str]]:
    """A sort key that puts frame9 before frame10."""
    parts = re.split(r"(\d+)", path.name.casefold())
    # Numbers before text; equal numbers by their digits.
    return [(int(part), part) if part.isdecimal() else (-1, part) for part in parts]


def _read(file: Path) -> Picture | None:
    """(H, W, 3), rotated by its EXIF orientation; None if it cannot be read."""
    try:
        with Image.open(file) as image:
            if image.width * image.height > max_pixels(file.stat().st_size):
                return None
            return np.asarray(ImageOps.exif_transpose(image).convert("RGB"))
    except Exception:  # a damaged file can raise anything: struct.error, OverflowError, …
        return None
