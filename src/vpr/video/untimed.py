"""Frames of footage without times."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from vpr.video.fit import Fit, thumbnail
from vpr.video.frames import Frame, Picture


def untimed_frame(whole: Picture, number: int, rate: Fraction, fit: Fit | None) -> Frame:
    """A frame from a picture (h, w, 1 or 3), fitted or as RGB."""
    if fit is not None:
        picture = fit(whole)
    else:
        picture = whole.copy() if whole.shape[2] == 3 else whole.repeat(3, 2)
    return Frame(picture, number, number, 1 / rate, partial(thumbnail, whole))
