"""Moving Ball: a coloured disc travels straight, bounces, and changes colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vpr.data.base import Batch
from vpr.data.discs import COLOURS, draw_discs
from vpr.errors import VPRError
from vpr.utils.config_fields import option


@dataclass(frozen=True)
class MovingBall:
    """The colour advances in a fixed cycle at every bounce, and at other frames with p = 0.1.

    The ball is reflected when its centre reaches the border, so that half of it leaves the frame.
    """

    name: ClassVar[str] = "moving-ball"

    size: int = option(64, "Height and width of a frame.")
    radius: float = option(6.0, "Radius of the ball, in pixels of a 64×64 frame.")
    speed: float = option(
        6.0, "Pixels per frame, for 64×64 frames: 6 for the fast ball, 2.5 for the slow one."
    )
    change_probability: float = option(0.1, "Probability of a new colour without a bounce.")

    def __post_init__(self) -> None:
        if self.size < 2 or not 0 < self.radius <= 128 or not 0 < self.speed < 63:
            raise VPRError(
                "moving-ball needs size ≥ 2, a radius up to 128 and speed between 0 and 63, "
                f"got {self.size}, {self.radius}, {self.speed}"
            )
        if not 0 <= self.change_probability <= 1:
            raise VPRError(f"change_probability must be in [0, 1], got {self.change_probability}")

    @property
    def frame(self) -> tuple[int, ...]:
        return (3, self.size, self.size)

    @property
    def counts(self) -> dict[str, int]:
        """Number of values of each discrete factor."""
        return {"colour": len(COLOURS)}

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch:
        """`count` sequences of `length` frames; factors `position` and `colour`."""
        position, bounced = self._trajectory(count, length, rng)
        changed = bounced | (rng.random((count, length)) < self.change_probability)
        changed[:, 0] = False
        start = rng.integers(len(COLOURS), size=(count, 1))
        colour = (start + changed.cumsum(1)) % len(COLOURS)
        moved = np.ones_like(changed)
        moved[:, 0] = False
        radius = self.radius * self.size / 64
        return Batch(
            frames=draw_discs(position[:, :, None], colour[..., None], radius, self.size),
            factors={"position": position, "colour": colour},
            changes={"position": moved, "colour": changed},
        )

    def _trajectory(
        self, count: int, length: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Centres (count, length, 2) as (y, x), and whether the ball just hit a wall."""
        limit = self.size - 1
        angle = rng.uniform(0, 2 * np.pi, count)
        velocity = self.speed * self.size / 64 * np.stack([np.sin(angle), np.cos(angle)], -1)
        start = rng.uniform(0, limit, (count, 2))
        straight = start[:, None] + velocity[:, None] * np.arange(length)[:, None]
        lap, within = np.divmod(straight, limit)  # each lap of an axis ends at a wall
        position = np.where(lap % 2 == 0, within, limit - within)
        bounced = np.zeros((count, length), dtype=bool)
        bounced[:, 1:] = (np.diff(lap, axis=1) != 0).any(-1)
        return position.astype(np.float32), bounced
