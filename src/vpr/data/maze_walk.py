"""The geometry of a maze and of a walk through it, without rendering.

Lengths are in metres. x points east and y north; a heading is an angle in radians, 0 for east and
counterclockwise, so that north is π/2 and west π.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Span = tuple[float, float]  # minimum and maximum
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FRAME = (3, 64, 64)
WALLS = (  # colours, in the order of their cycle
    (230, 40, 40),  # red
    (40, 200, 60),  # green
    (50, 90, 240),  # blue
    (240, 220, 50),  # yellow
    (210, 60, 220),  # magenta
    (40, 210, 220),  # cyan
)

WIDTH = 2.5  # of every hallway
RADIUS = WIDTH / 2  # of the quarter circle that is walked in a corner
TURN_LENGTH = RADIUS * math.pi / 2  # length of that quarter circle
ENTRY_ANGLE = math.pi / 6  # of a turn; there, half of the visible walls belong to the next hallway
STEPS_PER_METRE = 8  # sums of eighths are exact in floating point: walls meet without gaps
HEADING_CORRELATION = 0.8  # of the heading noise of two successive frames


class Plan(NamedTuple):
    """A chain of hallways: the k-th leads from the middle of corner k to that of corner k + 1."""

    corners: Floats  # (hallways + 1, 2) as (x, y); the first is where the chain begins
    headings: Floats  # (hallways,)
    colours: Ints  # (hallways,)

    @property
    def directions(self) -> Floats:
        """Of each hallway, (hallways, 2)."""
        return _unit_vectors(self.headings)

    def part(self, begin: int, end: int) -> Plan:
        """The hallways from `begin` to `end` (exclusive)."""
        some = slice(max(begin, 0), end)
        return Plan(self.corners[max(begin, 0) : end + 1], self.headings[some], self.colours[some])


class Walk(NamedTuple):
    """The labels of each frame, (frames, ...)."""

    position: NDArray[np.float32]  # x, y and heading
    hallway: Ints
    turning: NDArray[np.bool_]


def hallways_for(frames: int, speed: float, length: float) -> int:
    """A number of hallways of this length that is not exhausted at this speed."""
    return math.ceil(frames * speed / (length - WIDTH + TURN_LENGTH)) + 2


def draw_plan(
    hallways: int, lengths: Span, colours: int, stay: tuple[int, int], rng: np.random.Generator
) -> Plan:
    """A random chain of hallways that never crosses itself, because every other one leads north.

    The others lead west or east at random. Each colour lasts for a random number of hallways
    within `stay`; then the next colour of the cycle follows.
    """
    headings = np.full(hallways, np.pi / 2)
    headings[1::2] = rng.choice([0, np.pi], size=hallways // 2)
    low, high = (round(length * STEPS_PER_METRE) for length in lengths)
    steps = (
        rng.integers(low, high + 1, size=(hallways, 1)) / STEPS_PER_METRE * _unit_vectors(headings)
    )
    corners = np.concatenate([np.zeros((1, 2)), steps.cumsum(0)])
    stays = rng.integers(stay[0], stay[1] + 1, size=hallways)
    colour = (rng.integers(colours) + np.arange(hallways).repeat(stays)[:hallways]) % colours
    return Plan(corners, headings, colour)


def walk(plan: Plan, frames: int, speeds: Span, noise: float, rng: np.random.Generator) -> Walk:
    """Walk along the middle of the hallways, at a random speed (metres per frame) in each.

    The heading has slowly varying noise with a standard deviation of `noise` radians. The label
    changes to the next hallway within a turn, when more of it is visible than of the previous one.
    """
    hallway, along = _progress(plan, frames, rng.uniform(*speeds, size=len(plan.headings)))
    position, heading, turning = _pose(plan, hallway, along)
    heading = heading + noise * _heading_noise(frames, rng)
    pose = np.concatenate([position, heading[:, None]], 1)
    return Walk(pose.astype(np.float32), hallway, turning)


def _unit_vectors(headings: Floats) -> Floats:
    """Unit vectors of headings along the axes, without rounding errors."""
    return np.stack([np.cos(headings), np.sin(headings)], -1).round()


def _progress(plan: Plan, frames: int, speeds: Floats) -> tuple[Ints, Floats]:
    """The hallway of each frame, and the distance walked in it so far."""
    lengths = _walked_lengths(plan)
    hallway, along = np.zeros(frames, dtype=np.int64), np.zeros(frames)
    k, u = 0, TURN_LENGTH - ENTRY_ANGLE * RADIUS  # there is no turn before the first hallway
    for t in range(frames):
        hallway[t], along[t] = k, u
        u += speeds[k]
        while u >= lengths[k]:
            u -= lengths[k]
            k += 1
    return hallway, along


def _walked_lengths(plan: Plan) -> Floats:
    """The distance walked in each hallway, from within one turn to within the next."""
    lengths: Floats = np.abs(np.diff(plan.corners, axis=0)).sum(1) - WIDTH + TURN_LENGTH
    return lengths


def _pose(plan: Plan, hallway: Ints, along: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Position (frames, 2), heading without noise, and whether the frame is in a turn."""
    left = _walked_lengths(plan)[hallway] - along
    entry = ENTRY_ANGLE * RADIUS
    # Leaving the turn at the beginning of the hallway; entering the one at its end.
    out, into = along < TURN_LENGTH - entry, left < entry
    corner = hallway + ~out
    angle = ENTRY_ANGLE + np.where(out, along, -left) / RADIUS
    ahead = plan.directions
    straight = (
        plan.corners[hallway] + (RADIUS + along - TURN_LENGTH + entry)[:, None] * ahead[hallway]
    )
    before, after = ahead[corner - 1], ahead[corner]
    centre = plan.corners[corner] + RADIUS * (after - before)
    sine, cosine = np.sin(angle)[:, None], np.cos(angle)[:, None]
    bent = centre + RADIUS * (sine * before - cosine * after)
    turning = out | into
    towards = np.sign(plan.headings[corner] - plan.headings[corner - 1])
    heading = plan.headings[corner - 1] + towards * angle
    return (
        np.where(turning[:, None], bent, straight),
        np.where(turning, heading, plan.headings[hallway]),
        turning,
    )


def _heading_noise(frames: int, rng: np.random.Generator) -> Floats:
    """First-order autoregressive noise with variance 1."""
    noise = rng.standard_normal(frames)
    for t in range(1, frames):
        noise[t] = (
            HEADING_CORRELATION * noise[t - 1] + math.sqrt(1 - HEADING_CORRELATION**2) * noise[t]
        )
    return noise
