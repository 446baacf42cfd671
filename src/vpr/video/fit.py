"""Fit pictures of any size to the frames of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Literal, get_args

import numpy as np
from PIL import Image

from vpr.errors import VPRError
from vpr.video.frames import Frame, Picture

Mode = Literal["stretch", "letterbox", "crop"]

MAX_CROP_RATIO = 16  # pictures beyond 16:1 are distorted before cropping, to limit their size


@dataclass(frozen=True)
class Fit:
    """The target size, and how to fit other proportions.

    "stretch" changes the proportions, "letterbox" adds black bars, "crop" cuts off the sides.
    """

    height: int
    width: int
    channels: int = 3  # or 1: grey
    mode: Mode = "stretch"

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise VPRError(f"fit must be one of {', '.join(get_args(Mode))}, got {self.mode}")
        if self.channels not in (1, 3) or min(self.height, self.width) < 1:
            raise VPRError(
                f"pictures must have 1 or 3 channels and a size of 1 or more, got {self}"
            )

    @classmethod
    def to(cls, frame: Sequence[int], mode: Mode = "stretch") -> Fit:
        """The fit for frames (C, H, W)."""
        if len(frame) != 3:
            raise VPRError(f"this model needs vectors {tuple(frame)}, not pictures")
        channels, height, width = frame
        return cls(height, width, channels, mode)

    def scaled(self, height: int, width: int) -> tuple[int, int]:
        """The size (height, width) to scale a picture to before `place`."""
        if self.mode == "stretch":
            return self.height, self.width
        ratios = self.height / height, self.width / width
        ratio = min(ratios) if self.mode == "letterbox" else max(ratios)
        return (
            min(max(round(height * ratio), 1), MAX_CROP_RATIO * self.height),
            min(max(round(width * ratio), 1), MAX_CROP_RATIO * self.width),
        )

    def place(self, picture: Picture) -> Picture:
        """Add bars to a scaled picture (h, w, C), or crop it."""
        if picture.shape[:2] == (self.height, self.width):
            return picture
        canvas = np.zeros((self.height, self.width, self.channels), dtype=np.uint8)
        source, target = zip(
            *map(_overlap, picture.shape[:2], (self.height, self.width)), strict=True
        )
        canvas[target] = picture[source]
        return canvas

    def __call__(self, picture: Picture) -> Picture:
        """Fit a picture (h, w, 1 or 3)."""
        image = as_image(picture).convert("L" if self.channels == 1 else "RGB")
        return self.place(_array(_resized(image, *self.scaled(*picture.shape[:2]))))


def thumbnail(picture: Picture, width: int) -> Picture:
    """A picture (h, w, 1 or 3) as RGB, scaled down to `width` if it is wider."""
    height, full = picture.shape[:2]
    width = min(width, full)
    size = max(round(height * width / full), 1), width
    return _array(_resized(as_image(picture).convert("RGB"), *size))


def scale(picture: Picture, height: int, width: int) -> Picture:
    """A picture (h, w, 1 or 3) in another size, whatever its proportions."""
    return _array(_resized(as_image(picture), height, width))


def as_image(picture: Picture) -> Image.Image:
    return Image.fromarray(picture[..., 0] if picture.shape[2] == 1 else picture)


def _resized(image: Image.Image, height: int, width: int) -> Image.Image:
    """Scale by averaging pixels, or by interpolation if it grows."""
    smaller = height * width < image.height * image.width
    filtering = Image.Resampling.BOX if smaller else Image.Resampling.BILINEAR
    return image.resize((width, height), filtering)


def _array(image: Image.Image) -> Picture:
    pixels = np.array(image)  # a copy, because that of Pillow is read-only
    return pixels[..., None] if pixels.ndim == 2 else pixels


def _overlap(source: int, target: int) -> tuple[slice, slice]:
    """The common parts of two lengths that have the same centre."""
    shared = min(source, target)
    a, b = (source - shared) // 2, (target - shared) // 2
    return slice(a, a + shared), slice(b, b + shared)


def untimed_frame(whole: Picture, number: int, rate: Fraction, fit: Fit | None) -> Frame:
    """A frame from a picture (h, w, 1 or 3), fitted or as RGB."""
    if fit is not None:
        picture = fit(whole)
    else:
        picture = whole.copy() if whole.shape[2] == 3 else whole.repeat(3, 2)
    return Frame(picture, number, number, 1 / rate, partial(thumbnail, whole))
