"""Distractors of a montage: changes of the picture that are not transitions between shots."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from vpr.video.fit import scale
from vpr.video.frames import Picture

Kind = Literal["flash", "shake", "inset"]
KINDS: tuple[Kind, ...] = ("flash", "shake", "inset")
MARGIN = 8  # frames between a distractor and a transition
SHAKE = 0.06  # largest shift of the window, relative to the picture


class Distractor(NamedTuple):
    """Frames from `first` to `last` (exclusive)."""

    kind: Kind
    first: int
    last: int
    strength: float  # from 0 to 1
    corner: int  # of an inset, 0 to 3; also the seed of a shake
    piece: int  # that an inset shows


def draw_distractor(first: int, last: int, piece: int, rng: np.random.Generator) -> Distractor:
    """A distractor between two transitions, at frames `first` and `last`."""
    kind = KINDS[int(rng.integers(len(KINDS)))]
    shortest, longest = {"flash": (1, 3), "shake": (6, 20), "inset": (12, 60)}[kind]
    room = last - first - 2 * MARGIN
    frames = int(rng.integers(shortest, min(longest, room) + 1))
    start = int(rng.integers(first + MARGIN, last - MARGIN - frames + 1))
    strength, corner = float(rng.uniform(0.5, 1)), int(rng.integers(4))
    return Distractor(kind, start, start + frames, strength, corner, piece)


def flashed(picture: Picture, strength: float) -> Picture:
    """A picture that is brighter by `strength` of the way to white."""
    brighter: Picture = (picture + (255.0 - picture) * strength).astype(np.uint8)
    return brighter


def shake_offset(distractor: Distractor, frame: int) -> tuple[float, float]:
    """The shift of the window, down and right, relative to the picture."""
    rng = np.random.default_rng([distractor.first, distractor.corner, frame])
    down, right = rng.uniform(-SHAKE, SHAKE, 2) * distractor.strength
    return float(down), float(right)


def inset(picture: Picture, other: Picture, distractor: Distractor) -> Picture:
    """`other` in a corner of the picture."""
    height, width = picture.shape[:2]
    share = 0.2 + 0.2 * distractor.strength
    small = scale(other, round(height * share), round(width * share))
    h, w = small.shape[:2]
    edge = height // 20
    top = edge if distractor.corner < 2 else height - edge - h
    left = edge if distractor.corner % 2 else width - edge - w
    result = picture.copy()
    result[top : top + h, left : left + w] = small
    return result
