"""The plan of a maze and a walk through it: plain geometry, no pictures.

Lengths are in metres. On the plan x leads east and y north; a heading is an angle in radians, 0 for
east and growing to the left, so that north is π/2 and west π.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Span = tuple[float, float]  # the least and the most
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FRAME = (3, 64, 64)
WALLS = (  # colours, in the order in which they follow each other
    (230, 40, 40),  # red
    (40, 200, 60),  # green
    (50, 90, 240),  # blue
    (240, 220, 50),  # yellow
    (210, 60, 220),  # magenta
    (40, 210, 220),  # cyan
)

WIDTH = 2.5  # of every hallway
RADIUS = WIDTH / 2  # of the quarter circle on which a corner is walked: it begins and ends in it
BEND = RADIUS * math.pi / 2  # length of that quarter circle
ENTRY = math.pi / 6  # of a turn: then half of the walls in sight are those of the next hallway
FINEST = 8  # lengths are in eighths of a metre, of which sums are exact: walls meet without a gap
SWAY = 0.8  # how much of the noise of the heading stays from frame to frame


class Plan(NamedTuple):
    """A chain of hallways: the k-th leads from the middle of corner k to that of corner k + 1."""

    corners: Floats  # (hallways + 1, 2) as (x, y); the first is where the chain begins
    headings: Floats  # (hallways,)
    colours: Ints  # (hallways,)

    @property
    def directions(self) -> Floats:
        """Of each hallway, (hallways, 2)."""
        return _ahead(self.headings)

    def part(self, begin: int, end: int) -> Plan:
        """From the hallway `begin` up to, and without, `end`."""
        some = slice(max(begin, 0), end)
        return Plan(self.corners[max(begin, 0) : end + 1], self.headings[some], self.colours[some])


class Walk(NamedTuple):
    """What is true of each frame; (frames, ...)."""

    position: NDArray[np.float32]  # x, y and heading
    hallway: Ints
    turning: NDArray[np.bool_]


def hallways_for(frames: int, speed: float, length: float) -> int:
    """More hallways of this length than an agent can walk through at this speed."""
    return math.ceil(frames * speed / (length - WIDTH + BEND)) + 2


def draw_plan(
    hallways: int, lengths: Span, colours: int, stay: tuple[int, int], rng: np.random.Generator
) -> Plan:
    """A chain that never meets itself, because every other hallway leads north.

    Those between lead west or east, by chance. A colour is that of as many hallways as `stay`
    allows, by chance, and then gives way to the next, always in the same order.
    """
    headings = np.full(hallways, np.pi / 2)
    headings[1::2] = rng.choice([0, np.pi], size=hallways // 2)
    low, high = (round(length * FINEST) for length in lengths)
    steps = rng.integers(low, high + 1, size=(hallways, 1)) / FINEST * _ahead(headings)
    corners = np.concatenate([np.zeros((1, 2)), steps.cumsum(0)])
    stays = rng.integers(stay[0], stay[1] + 1, size=hallways)
    colour = (rng.integers(colours) + np.arange(hallways).repeat(stays)[:hallways]) % colours
    return Plan(corners, headings, colour)


def walk(plan: Plan, frames: int, speeds: Span, noise: float, rng: np.random.Generator) -> Walk:
    """Along the middle of the hallways, each at a speed of its own, in metres a frame.

    The eyes stray from the way ahead by `noise` radians (standard deviation), slowly. The next
    hallway begins within a turn, when more of it is in sight than of the one before.
    """
    hallway, along = _progress(plan, frames, rng.uniform(*speeds, size=len(plan.headings)))
    position, heading, turning = _pose(plan, hallway, along)
    heading = heading + noise * _sway(frames, rng)
    pose = np.concatenate([position, heading[:, None]], 1)
    return Walk(pose.astype(np.float32), hallway, turning)


def _ahead(headings: Floats) -> Floats:
    """Unit vectors of headings along the axes, exactly so."""
    return np.stack([np.cos(headings), np.sin(headings)], -1).round()


def _progress(plan: Plan, frames: int, speeds: Floats) -> tuple[Ints, Floats]:
    """In which hallway each frame is, and how far from where that began."""
    lengths = _way(plan)
    hallway, along = np.zeros(frames, dtype=np.int64), np.zeros(frames)
    k, u = 0, BEND - ENTRY * RADIUS  # there is no turn before the first hallway
    for t in range(frames):
        hallway[t], along[t] = k, u
        u += speeds[k]
        while u >= lengths[k]:
            u -= lengths[k]
            k += 1
    return hallway, along


def _way(plan: Plan) -> Floats:
    """How far one walks in each hallway, from within a turn to within the next."""
    lengths: Floats = np.abs(np.diff(plan.corners, axis=0)).sum(1) - WIDTH + BEND
    return lengths


def _pose(plan: Plan, hallway: Ints, along: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Where one is (frames, 2), the way ahead as a heading, and whether that is in a turn."""
    left = _way(plan)[hallway] - along
    entry = ENTRY * RADIUS
    out, into = along < BEND - entry, left < entry  # of the turn at its beginning; at its end
    corner = hallway + ~out
    angle = ENTRY + np.where(out, along, -left) / RADIUS
    ahead = plan.directions
    straight = plan.corners[hallway] + (RADIUS + along - BEND + entry)[:, None] * ahead[hallway]
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


def _sway(frames: int, rng: np.random.Generator) -> Floats:
    """Noise of variance 1 that changes slowly."""
    noise = rng.standard_normal(frames)
    for t in range(1, frames):
        noise[t] = SWAY * noise[t - 1] + math.sqrt(1 - SWAY**2) * noise[t]
    return noise
