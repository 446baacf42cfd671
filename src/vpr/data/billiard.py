"""Balls of equal size and mass that bounce off each other and off the walls of a square box.

Nothing is stepped: balls roll straight to their next collision, whose time is known. So energy is
kept, no ball passes through another, and the speed makes no difference to that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Pixels a frame. Balls that close in more slowly do not collide: the push could be lost in
# rounding, and they would collide for ever.
SLOW = 1e-9


class Path(NamedTuple):
    """B sequences of K balls as events, the first of which is the start; straight in between."""

    time: Floats  # (events, B), in frames
    place: Floats  # (events, B, K, 2), centres; each coordinate from 0 to `room`
    velocity: Floats  # (events, B, K, 2), from the event on
    walls: NDArray[np.int64]  # (events, B, K), how many walls a ball has met so far

    def at(self, times: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """Centres (B, T, K, 2) at these times (T,), and how many walls were met, (B, T, K)."""
        event = (self.time[:, :, None] <= times).sum(0) - 1  # (B, T), the last one
        here = event, np.arange(len(event))[:, None]
        since = (times - self.time[here])[..., None, None]
        return self.place[here] + self.velocity[here] * since, self.walls[here]


def scatter(count: int, balls: int, radius: float, room: float, rng: np.random.Generator) -> Floats:
    """Centres (count, balls, 2) anywhere in the box, so that no two balls overlap."""
    place = rng.uniform(0, room, (count, balls, 2))
    for k in range(1, balls):
        while True:
            gap = place[:, :k] - place[:, k : k + 1]
            (taken,) = ((gap**2).sum(-1) < (2 * radius) ** 2).any(1).nonzero()
            if not len(taken):
                break
            place[taken, k] = rng.uniform(0, room, (len(taken), 2))
    return place


def roll(place: Floats, velocity: Floats, radius: float, room: float, until: float) -> Path:
    """From centres and velocities (B, K, 2) on, past the time `until`."""
    count, balls = place.shape[:2]
    pairs = np.stack(np.triu_indices(balls, 1))  # (2, pairs)
    rows = np.arange(count)
    time, walls = np.zeros(count), np.zeros((count, balls), dtype=np.int64)
    path = [(time, place, velocity, walls)]
    while time.min() <= until:
        waits = np.concatenate(
            [
                _until_walls(place, velocity, room).reshape(count, 2 * balls),
                _until_pairs(place, velocity, radius, pairs),
            ],
            axis=1,
        )
        first = waits.argmin(1)  # one event at a time; another at the same moment comes next
        wait = waits[rows, first]
        time = time + wait
        place = place + velocity * wait[:, None, None]
        velocity, walls = velocity.copy(), walls.copy()
        (met,) = (first < 2 * balls).nonzero()
        _off_walls(place, velocity, walls, room, (met, *np.divmod(first[met], 2)))
        (met,) = (first >= 2 * balls).nonzero()
        _off_each_other(place, velocity, met, *pairs[:, first[met] - 2 * balls])
        path.append((time, place, velocity, walls))
    return Path(*map(np.stack, zip(*path, strict=True)))


def _until_walls(place: Floats, velocity: Floats, room: float) -> Floats:
    """How long each ball rolls to the wall ahead of it, (B, K, 2)."""
    ahead = np.where(velocity > 0, room, 0) - place
    wait = np.full_like(place, np.inf)
    np.divide(ahead, velocity, out=wait, where=velocity != 0)
    return wait.clip(0)


def _until_pairs(
    place: Floats, velocity: Floats, radius: float, pairs: NDArray[np.int64]
) -> Floats:
    """How long until each pair of balls touches, (B, pairs); infinite if it does not."""
    one, other = pairs
    gap, drift = place[:, other] - place[:, one], velocity[:, other] - velocity[:, one]
    closing = -(gap * drift).sum(-1)
    apart = (gap**2).sum(-1) - (2 * radius) ** 2
    # |gap + drift · wait| = 2 · radius, solved for the smaller wait
    root = closing**2 - (drift**2).sum(-1) * apart
    meet = (closing > 0) & (np.minimum(closing**2, root) > (SLOW * 2 * radius) ** 2)
    wait: Floats = np.full_like(closing, np.inf)
    np.divide(apart, closing + np.sqrt(root.clip(0)), out=wait, where=meet)
    return wait.clip(0)


def _off_walls(
    place: Floats,
    velocity: Floats,
    walls: NDArray[np.int64],
    room: float,
    met: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
) -> None:
    """Of these (sequence, ball, axis), turn the velocity; exactly at the wall, without rounding."""
    place[met] = np.where(velocity[met] > 0, room, 0)
    velocity[met] *= -1
    walls[met[:2]] += 1


def _off_each_other(
    place: Floats,
    velocity: Floats,
    met: NDArray[np.int64],
    one: NDArray[np.int64],
    other: NDArray[np.int64],
) -> None:
    """Equal masses swap the parts of their velocities that lie along the line between them."""
    line = place[met, other] - place[met, one]
    line /= np.sqrt((line**2).sum(-1, keepdims=True))
    swap = ((velocity[met, other] - velocity[met, one]) * line).sum(-1, keepdims=True) * line
    velocity[met, one] += swap
    velocity[met, other] -= swap
