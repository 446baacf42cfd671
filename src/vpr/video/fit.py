"""Pictures of any size to the size of a model's frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from PIL import Image

from vpr.errors import VPRError
from vpr.video.frames import Picture

Mode = Literal["stretch", "letterbox", "crop"]

SLIMMEST = 16  # beyond 16:1 a picture that is cropped is squeezed too: sizes stay sane


@dataclass(frozen=True)
class Fit:
    """The size of the pictures that are wanted, and what becomes of other proportions.

    stretch: all is seen, nothing wasted, proportions are lost. letterbox: proportions are kept,
    with black bars. crop: proportions are kept, what sticks out is not seen.
    """

    height: int
    width: int
    channels: int = 3  # or 1: grey
    mode: Mode = "stretch"

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise VPRError(f"fit must be one of {', '.join(get_args(Mode))}, got {self.mode}")
        if self.channels not in (1, 3) or min(self.height, self.width) < 1:
            raise VPRError(f"pictures have 1 or 3 channels and a size of 1 or more, got {self}")

    @classmethod
    def to(cls, frame: Sequence[int], mode: Mode = "stretch") -> Fit:
        """To a model's frame (C, H, W)."""
        if len(frame) != 3:
            raise VPRError(f"this model watches vectors, frames of {tuple(frame)}, not pictures")
        channels, height, width = frame
        return cls(height, width, channels, mode)

    def scaled(self, height: int, width: int) -> tuple[int, int]:
        """What to scale a picture of this size to (height, width); `place` does the rest."""
        if self.mode == "stretch":
            return self.height, self.width
        ratios = self.height / height, self.width / width
        ratio = min(ratios) if self.mode == "letterbox" else max(ratios)
        return (
            min(max(round(height * ratio), 1), SLIMMEST * self.height),
            min(max(round(width * ratio), 1), SLIMMEST * self.width),
        )

    def place(self, picture: Picture) -> Picture:
        """A scaled picture (h, w, C) with its bars, or without what sticks out."""
        if picture.shape[:2] == (self.height, self.width):
            return picture
        canvas = np.zeros((self.height, self.width, self.channels), dtype=np.uint8)
        theirs, ours = zip(
            *map(_overlap, picture.shape[:2], (self.height, self.width)), strict=True
        )
        canvas[ours] = picture[theirs]
        return canvas

    def __call__(self, picture: Picture) -> Picture:
        """A whole picture (h, w, 1 or 3) that is an array already."""
        image = as_image(picture).convert("L" if self.channels == 1 else "RGB")
        return self.place(_array(_resized(image, *self.scaled(*picture.shape[:2]))))


def thumbnail(picture: Picture, width: int) -> Picture:
    """A picture (h, w, 1 or 3) in colours and so wide, if it is not smaller."""
    height, full = picture.shape[:2]
    width = min(width, full)
    size = max(round(height * width / full), 1), width
    return _array(_resized(as_image(picture).convert("RGB"), *size))


def as_image(picture: Picture) -> Image.Image:
    return Image.fromarray(picture[..., 0] if picture.shape[2] == 1 else picture)


def _resized(image: Image.Image, height: int, width: int) -> Image.Image:
    """By the mean of what falls into a pixel, or between pixels where it grows."""
    smaller = height * width < image.height * image.width
    filtering = Image.Resampling.BOX if smaller else Image.Resampling.BILINEAR
    return image.resize((width, height), filtering)


def _array(image: Image.Image) -> Picture:
    pixels = np.array(image)  # a copy: Pillow's own cannot be written to
    return pixels[..., None] if pixels.ndim == 2 else pixels


def _overlap(theirs: int, ours: int) -> tuple[slice, slice]:
    """Two lengths, one in the middle of the other: what part of each they share."""
    shared = min(theirs, ours)
    a, b = (theirs - shared) // 2, (ours - shared) // 2
    return slice(a, a + shared), slice(b, b + shared)
