"""The rooms of 3D Shapes, rendered once and recoloured for each sequence."""

from __future__ import annotations

import colorsys
import contextlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from vpr.data.base import OnProgress
from vpr.data.room_renderer import SIZE, SURFACES, render
from vpr.data.solids import Floats, Solid, capsule, cube, cylinder, sphere
from vpr.errors import VPRError
from vpr.utils.cache_folder import cache_folder
from vpr.utils.files import read_tensors, write_tensors

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


_SHAPE = (ROOM_COUNT, len(SURFACES), SIZE * SIZE)


def rooms() -> Rooms:
    """The rooms of this process, with the user's cache."""
    return _rooms(cache_folder() / f"3dsd-v{VERSION}.safetensors")


_rooms = cache(Rooms)


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
