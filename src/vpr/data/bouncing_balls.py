"""Bouncing Balls: coloured discs bounce off each other, and change colour at the walls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vpr.data.base import Batch, change_points
from vpr.data.billiard import place_balls, simulate
from vpr.data.discs import COLOURS, draw_discs
from vpr.errors import VPRError
from vpr.utils.config_fields import option

MAX_CROWDING = 0.75  # share of the box covered by balls, above which they are hard to place


@dataclass(frozen=True)
class BouncingBalls:
    """Balls of equal mass bounce elastically and always stay completely inside the frame.

    All start at the same speed; collisions exchange energy. A ball that hit a wall since the last
    frame takes the next colour of a fixed cycle: one step, even if it hit two walls.
    """

    name: ClassVar[str] = "bouncing-balls"

    size: int = option(64, "Height and width of a frame.")
    balls: int = option(2, "Number of balls.")
    radius: float = option(6.0, "Radius of a ball, in pixels of a 64×64 frame.")
    speed: float = option(4.0, "Initial speed of a ball, in pixels per frame of 64×64.")
    colours: int = option(6, "Number of colours, from 2 to 6.")

    def __post_init__(self) -> None:
        if self.size < 2 or not 1 <= self.balls <= 100 or not 2 <= self.colours <= len(COLOURS):
            raise VPRError(
                "bouncing-balls needs size ≥ 2, 1 to 100 balls and 2 to 6 colours, "
                f"got {self.size}, {self.balls}, {self.colours}"
            )
        if not (self.radius > 0 and self._box > 0):
            raise VPRError(f"radius must be above 0 and fit into the frame, got {self.radius}")
        if not 0 < self.speed < self._box:
            raise VPRError(
                f"speed must be above 0 and below {self._box:g}, where a ball of radius "
                f"{self.radius:g} crosses the frame at once, got {self.speed}"
            )
        # The area of the box that the other balls block for the centre of a ball, at most.
        taken = (self.balls - 1) * math.pi * (2 * self.radius) ** 2
        if taken > MAX_CROWDING * self._box**2:
            raise VPRError(
                f"{self.balls} balls of radius {self.radius:g} are too crowded: "
                "use fewer or smaller ones"
            )

    @property
    def frame(self) -> tuple[int, ...]:
        return (3, self.size, self.size)

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch:
        """`count` sequences of `length` frames.

        Factors are `position` and `colour` of all balls, then `colour-1`, `colour-2`, … of each.
        """
        position, bounced = self._simulate(count, length, rng)
        start = rng.integers(self.colours, size=(count, 1, self.balls))
        colour = (start + bounced.cumsum(1)) % self.colours  # (count, length, balls)
        factors = {"position": position, "colour": colour}
        factors |= {f"colour-{k + 1}": colour[..., k] for k in range(self.balls)}
        return Batch(
            frames=draw_discs(position, colour, self.radius * self._scale, self.size),
            factors=factors,
            changes={name: change_points(values) for name, values in factors.items()},
        )

    @property
    def _scale(self) -> float:
        """Pixels of this frame size per pixel of a 64×64 frame, the unit of the simulation."""
        return self.size / 64

    @property
    def _box(self) -> float:
        """Side of the square that centres can reach, in pixels of a 64×64 frame."""
        return (self.size - 1) / self._scale - 2 * self.radius

    def _simulate(
        self, count: int, length: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Centres (count, length, balls, 2) as (y, x), and whether each ball just hit a wall."""
        place = place_balls(count, self.balls, self.radius, self._box, rng)
        angle = rng.uniform(0, 2 * np.pi, (count, self.balls))
        velocity = self.speed * np.stack([np.sin(angle), np.cos(angle)], -1)
        path = simulate(place, velocity, self.radius, self._box, length - 1)
        place, walls = path.at(np.arange(length, dtype=np.float64))
        bounced = np.zeros(walls.shape, dtype=bool)
        bounced[:, 1:] = np.diff(walls, axis=1) > 0
        return ((place + self.radius) * self._scale).astype(np.float32), bounced
