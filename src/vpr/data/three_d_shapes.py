"""3D Shapes Dynamic (3DSD): a room whose floor, wall and object change hue at three rates."""

from __future__ import annotations

import colorsys
import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from vpr.data.base import Batch, OnProgress, change_points
from vpr.data.room_renderer import (
    SIZE,
    SURFACES,
    Floats,
    Solid,
    capsule,
    cube,
    cylinder,
    render,
    sphere,
)
from vpr.data.shapes_file import ShapesFile, shapes_file
from vpr.errors import VPRError
from vpr.utils.cache_folder import cache_folder
from vpr.utils.config_fields import option
from vpr.utils.files import read_tensors, write_tensors

FACTORS = ("floor", "wall", "object", "scale", "shape", "orientation")  # fastest first
MAX_PERIOD = 10_000  # frames; the least common multiple of the periods is a 64-bit number

HUES = np.array([colorsys.hsv_to_rgb(k / 10, 1, 1) for k in range(10)], dtype=np.float32)
SKY_BLUE = np.array([153, 226, 249], dtype=np.float32) / 255
SCALES = np.linspace(0.75, 1.25, 8)
ORIENTATIONS = np.linspace(-30, 30, 15)  # degrees
SHAPES: tuple[Callable[[float], Solid], ...] = (
    lambda scale: cube(0.8 * scale),
    lambda scale: cylinder(0.94 * scale, 1.88 * scale),
    lambda scale: sphere(0.94 * scale),
    lambda scale: capsule(0.807 * scale, 3.228 * scale),
)
GRID = (len(SCALES), len(SHAPES), len(ORIENTATIONS))
ROOM_COUNT = len(SCALES) * len(SHAPES) * len(ORIENTATIONS)
PLANE_SCALE = 180  # the integer that represents 1 in a plane; the maximum is 1.32, of the floor
VERSION = 1  # raise it when the pictures change, so that caches are rendered again
_SHAPE = (ROOM_COUNT, len(SURFACES), SIZE * SIZE)


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
        for field in ("floor_period", "wall_period", "object_period"):
            period = getattr(self, field)
            if not 1 <= period <= MAX_PERIOD:
                raise VPRError(f"{field} must be 1 to {MAX_PERIOD:,} frames, got {period:,}")

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


class Rooms:
    """The planes of all rooms, rendered when first used and cached on disk when complete.

    If the cache is damaged or cannot be written, rooms are rendered when they are needed.
    """

    sizes = (len(HUES),) * 3 + GRID  # values of each factor

    def __init__(self, path: Path) -> None:
        self.path = path
        cached = _read_cache(path)
        self.planes = np.zeros(_SHAPE, dtype=np.uint8) if cached is None else cached
        self.rendered = np.full(ROOM_COUNT, cached is not None)

    def prepare(self, which: NDArray[np.int64], on_progress: OnProgress | None = None) -> None:
        """Render missing rooms; `on_progress(done, total)` is called after each."""
        missing = np.unique(which[~self.rendered[which]])
        for done, room in enumerate(missing, start=1):
            scale, shape, orientation = np.unravel_index(room, GRID)
            solid = SHAPES[shape](float(SCALES[scale]))
            planes = render(solid, float(ORIENTATIONS[orientation]))
            self.planes[room] = (planes * PLANE_SCALE).round().reshape(len(SURFACES), -1)
            self.rendered[room] = True
            if on_progress is not None:
                on_progress(done, len(missing))
        if len(missing) and self.rendered.all():
            with contextlib.suppress(VPRError):  # the cache is optional
                write_tensors(self.path, {"planes": torch.from_numpy(self.planes)}, {})

    def frames(self, hues: NDArray[np.int64], constant: NDArray[np.int64]) -> Floats:
        """Frames (B, T, 3, SIZE, SIZE) of hues (B, T, 3) and scale, shape, orientation (B, 3)."""
        which = np.ravel_multi_index(tuple(constant.T), GRID)
        self.prepare(which)
        count, length = hues.shape[:2]
        colours = np.empty((count, length, 3, len(SURFACES)), dtype=np.float32)
        colours[..., :3] = HUES[hues].swapaxes(2, 3)
        colours[..., 3], colours[..., 4] = SKY_BLUE, 1
        colours /= PLANE_SCALE
        frames = torch.empty((count, length, 3, SIZE, SIZE), dtype=torch.float32)
        mixed = torch.from_numpy(colours).flatten(1, 2)  # (count, length · 3, surfaces)
        pixels = frames.view(count, length * 3, SIZE * SIZE)
        # With PyTorch, which respects the number of threads; one sequence at a time, so that it
        # stays in the CPU cache until it is clipped.
        for b, room in enumerate(which):
            planes = torch.from_numpy(self.planes[room]).float()
            torch.mm(mixed[b], planes, out=pixels[b]).clamp_(max=1)
        return frames.numpy()


@cache
def rooms() -> Rooms:
    """The rooms of this process, with the user's cache."""
    return Rooms(cache_folder() / f"3dsd-v{VERSION}.safetensors")


def _read_cache(path: Path) -> NDArray[np.uint8] | None:
    """The planes in the cache; None if it is missing or different."""
    try:
        tensors, _ = read_tensors(path)
    except VPRError:
        return None
    planes = tensors.get("planes")
    if planes is None or planes.dtype != torch.uint8 or planes.shape != _SHAPE:
        return None
    return planes.numpy()
