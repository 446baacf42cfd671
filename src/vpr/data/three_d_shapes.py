"""3D Shapes Dynamic (3DSD): a room whose floor, wall and object change hue at three rates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vpr.data.base import Batch, OnProgress, change_points
from vpr.data.room_cache import ROOM_COUNT, Rooms, rooms
from vpr.data.room_renderer import SIZE
from vpr.data.shapes_file import ShapesFile, shapes_file
from vpr.errors import VPRError
from vpr.utils.config_fields import option

FACTORS = ("floor", "wall", "object", "scale", "shape", "orientation")  # fastest first
LONGEST_PERIOD = 10_000  # frames; the least common multiple of the periods is a 64-bit number


@dataclass(frozen=True)
class ThreeDShapesDynamic:
    """Three hues cycle with different periods; scale, shape and orientation are constant.

    A sequence starts at a random phase that is common to all hues: where the object changes, the
    wall and the floor change too (if their periods divide its period).
    """

    name: ClassVar[str] = "3dsd"

    floor_period: int = option(1, "Frames from one hue of the floor to the next.")
    wall_period: int = option(4, "Frames from one hue of the wall to the next.")
    object_period: int = option(8, "Frames from one hue of the object to the next.")
    aligned: bool = option(False, "Start every sequence at the start of all periods.")
    file: str = option("", "The official 3dshapes.h5; empty to render the images.", local=True)

    def __post_init__(self) -> None:
        if not all(1 <= period <= LONGEST_PERIOD for period in self._periods):
            raise VPRError(
                f"3dsd needs periods of 1 to {LONGEST_PERIOD} frames, got {self._periods}"
            )

    @property
    def frame(self) -> tuple[int, ...]:
        return (3, SIZE, SIZE)

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch:
        """`count` sequences of `length` frames; factors are indices into the grid of 3D Shapes."""
        source = self._source()
        fast, slow = np.array(source.sizes).reshape(2, 3)
        phase = 0 if self.aligned else rng.integers(math.lcm(*self._periods), size=(count, 1))
        time = np.arange(length) + np.zeros((count, 1), dtype=np.int64) + phase  # (count, length)
        steps = time[..., None] // np.array(self._periods)  # (count, length, 3)
        hues = (rng.integers(fast, size=(count, 1, 3)) + steps) % fast
        constant = rng.integers(slow, size=(count, 3))
        factors = [*np.moveaxis(hues, -1, 0), *constant.T[..., None].repeat(length, -1)]
        return Batch(
            frames=source.frames(hues, constant),
            factors=dict(zip(FACTORS, factors, strict=True)),
            changes=dict(zip(FACTORS, map(change_points, factors), strict=True)),
        )

    def prepare(self, on_progress: OnProgress | None = None) -> None:
        """Render all rooms."""
        if not self.file:
            rooms().prepare(np.arange(ROOM_COUNT), on_progress)

    @property
    def counts(self) -> dict[str, int]:
        """Number of values of each factor."""
        return dict(zip(FACTORS, self._source().sizes, strict=True))

    @property
    def _periods(self) -> tuple[int, int, int]:
        return (self.floor_period, self.wall_period, self.object_period)

    def _source(self) -> Rooms | ShapesFile:
        return shapes_file(self.file) if self.file else rooms()
