"""Balls of equal size and mass that bounce off each other and off the walls of a square box.

The simulation is event-driven: it moves from collision to collision, whose times are computed in
closed form, instead of by time steps. So energy is conserved and no ball passes through another, at
any speed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Pixels per frame. Slower approaches are not collisions: the change of velocity could be lost in
# rounding, and the same collision would repeat forever.
MIN_CLOSING_SPEED = 1e-9


class Path(NamedTuple):
    """Trajectories of K balls in B sequences, stored at the start and at every collision."""

    time: Floats  # (events, B), in frames
    position: Floats  # (events, B, K, 2), centres; each coordinate from 0 to `box`
    velocity: Floats  # (events, B, K, 2), from the event on
    walls: NDArray[np.int64]  # (events, B, K), how many walls a ball has hit so far

    def at(self, times: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """Centres (B, T, K, 2) at these times (T,), and how many walls were hit, (B, T, K)."""
        event = (self.time[:, :, None] <= times).sum(0) - 1  # (B, T), the last one
        index = event, np.arange(len(event))[:, None]
        since = (times - self.time[index])[..., None, None]
        return self.position[index] + self.velocity[index] * since, self.walls[index]


def place_balls(
    count: int, balls: int, radius: float, box: float, rng: np.random.Generator
) -> Floats:
    """Random centres (count, balls, 2) in the box, such that no two balls overlap."""
    position = rng.uniform(0, box, (count, balls, 2))
    for k in range(1, balls):
        while True:
            gap = position[:, :k] - position[:, k : k + 1]
            (taken,) = ((gap**2).sum(-1) < (2 * radius) ** 2).any(1).nonzero()
            if not len(taken):
                break
            position[taken, k] = rng.uniform(0, box, (len(taken), 2))
    return position


def simulate(position: Floats, velocity: Floats, radius: float, box: float, until: float) -> Path:
    """Simulate from centres and velocities (B, K, 2) until after the time `until`.

    `box` is the side of the square that the centres can reach.
    """
    count, balls = position.shape[:2]
    pairs = np.stack(np.triu_indices(balls, 1))  # (2, pairs)
    rows = np.arange(count)
    time, walls = np.zeros(count), np.zeros((count, balls), dtype=np.int64)
    path = [(time, position, velocity, walls)]
    while time.min() <= until:
        waits = np.concatenate(
            [
                _time_to_walls(position, velocity, box).reshape(count, 2 * balls),
                _time_to_collisions(position, velocity, radius, pairs),
            ],
            axis=1,
        )
        first = waits.argmin(1)  # one event at a time; a simultaneous one follows with a wait of 0
        wait = waits[rows, first]
        time = time + wait
        position = position + velocity * wait[:, None, None]
        velocity, walls = velocity.copy(), walls.copy()
        (hit,) = (first < 2 * balls).nonzero()
        _bounce_off_walls(position, velocity, walls, box, (hit, *np.divmod(first[hit], 2)))
        (hit,) = (first >= 2 * balls).nonzero()
        _collide(position, velocity, hit, *pairs[:, first[hit] - 2 * balls])
        path.append((time, position, velocity, walls))
    return Path(*map(np.stack, zip(*path, strict=True)))


def _time_to_walls(position: Floats, velocity: Floats, box: float) -> Floats:
    """Time until each ball reaches the wall ahead of it, (B, K, 2)."""
    ahead = np.where(velocity > 0, box, 0) - position
    wait = np.full_like(position, np.inf)
    np.divide(ahead, velocity, out=wait, where=velocity != 0)
    return wait.clip(0)


def _time_to_collisions(
    position: Floats, velocity: Floats, radius: float, pairs: NDArray[np.int64]
) -> Floats:
    """Time until each pair of balls touches, (B, pairs); infinite if it does not."""
    one, other = pairs
    gap, drift = position[:, other] - position[:, one], velocity[:, other] - velocity[:, one]
    closing = -(gap * drift).sum(-1)
    apart = (gap**2).sum(-1) - (2 * radius) ** 2
    # |gap + drift · wait| = 2 · radius, solved for the smaller wait
    root = closing**2 - (drift**2).sum(-1) * apart
    meet = (closing > 0) & (np.minimum(closing**2, root) > (MIN_CLOSING_SPEED * 2 * radius) ** 2)
    wait: Floats = np.full_like(closing, np.inf)
    np.divide(apart, closing + np.sqrt(root.clip(0)), out=wait, where=meet)
    return wait.clip(0)


def _bounce_off_walls(
    position: Floats,
    velocity: Floats,
    walls: NDArray[np.int64],
    box: float,
    hit: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
) -> None:
    """Reverse the velocity at `hit` (sequence, ball, axis), and set the position to the wall."""
    position[hit] = np.where(velocity[hit] > 0, box, 0)
    velocity[hit] *= -1
    walls[hit[:2]] += 1


def _collide(
    position: Floats,
    velocity: Floats,
    hit: NDArray[np.int64],
    one: NDArray[np.int64],
    other: NDArray[np.int64],
) -> None:
    """Elastic collision of equal masses: swap the velocity components along the line of centres."""
    line = position[hit, other] - position[hit, one]
    line /= np.sqrt((line**2).sum(-1, keepdims=True))
    swap = ((velocity[hit, other] - velocity[hit, one]) * line).sum(-1, keepdims=True) * line
    velocity[hit, one] += swap
    velocity[hit, other] -= swap
