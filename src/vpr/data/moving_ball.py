"""Moving Ball: a coloured disc travels straight, bounces, and changes colour.

The colour steps through a fixed cycle when the ball bounces, or at random with p = 0.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vpr.data.base import Batch

COLOURS = np.array(  # red, green, cyan, magenta, yellow, blue, and again
    [[1, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]], dtype=np.float32
)


class MovingBall:
    """Sequences of a `size`×`size` frame; radius and speed are in pixels of a 64×64 frame."""

    name = "moving-ball"

    def __init__(
        self,
        size: int = 64,
        radius: float = 6.0,
        speed: float = 6.0,
        change_probability: float = 0.1,
    ) -> None:
        self.size = size
        self.radius = radius * size / 64
        self.speed = speed * size / 64
        self.change_probability = change_probability
        self.frame = (3, size, size)

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch:
        """`count` sequences of `length` frames; factors `position` and `colour`."""
        position, bounced = self._travel(count, length, rng)
        random = rng.random((count, length)) < self.change_probability
        changed = bounced | random
        changed[:, 0] = False
        start = rng.integers(len(COLOURS), size=(count, 1))
        colour = (start + changed.cumsum(1)) % len(COLOURS)
        moved = np.ones_like(changed)
        moved[:, 0] = False
        return Batch(
            frames=self._draw(position, colour),
            factors={"position": position, "colour": colour},
            changes={"position": moved, "colour": changed},
        )

    def _travel(
        self, count: int, length: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Centres (count, length, 2) as (y, x), and whether a wall was met on the way there."""
        limit = self.size - 1
        angle = rng.uniform(0, 2 * np.pi, count)
        velocity = self.speed * np.stack([np.sin(angle), np.cos(angle)], -1)
        start = rng.uniform(0, limit, (count, 2))
        straight = start[:, None] + velocity[:, None] * np.arange(length)[:, None]
        lap, within = np.divmod(straight, limit)  # each lap of an axis ends at a wall
        position = np.where(lap % 2 == 0, within, limit - within)
        bounced = np.zeros((count, length), dtype=bool)
        bounced[:, 1:] = (np.diff(lap, axis=1) != 0).any(-1)
        return position.astype(np.float32), bounced

    def _draw(
        self, position: NDArray[np.float32], colour: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Hard-edged discs (count, length, 3, size, size) on black, values 0 and 1."""
        axis = np.arange(self.size, dtype=np.float32)
        dy, dx = ((axis - position[..., i, None]) ** 2 for i in range(2))
        disc = dy[..., :, None] + dx[..., None, :] <= self.radius**2
        paint = COLOURS[colour].astype(bool)[..., None, None]
        return (disc[:, :, None] & paint).astype(np.float32)
