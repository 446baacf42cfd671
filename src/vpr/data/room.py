"""The room of 3D Shapes by ray casting: how much of each surface's colour a pixel shows.

The numbers were fitted to the authors' published animation: camera and walls to its edges, lights
to its shading, which this room then meets within three grey levels on average.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.data.solids import Floats, Solid

SIZE = 64
FINE = 4  # rays a pixel along each axis, for smooth edges
SURFACES = ("floor", "wall", "object", "sky", "gloss")  # gloss is white, on top of the object
FLOOR, WALL, OBJECT, SKY = range(4)

# The solid stands at the origin, and the eye goes around it.
FIELD_OF_VIEW, PITCH = math.radians(45), math.radians(0.37)  # a little upwards
EYE_HEIGHT, EYE_DISTANCE = 1.82, 7.0
BACK_WALL, SIDE_WALLS, WALL_HEIGHT = 10.0, 9.43, 5.1

# A lamp that belongs to the room, with a beam, and one that the eye carries.
AMBIENT, HEADLAMP, LAMP = 0.36, 0.577, 0.964
LAMP_PLACE = np.array([[-4.66], [23.0], [2.16]], dtype=np.float32)
LAMP_TARGET = np.array([[-4.93], [0.0], [1.24]], dtype=np.float32)
BEAM = 11  # the larger, the narrower
GLOSS = 0.15


class Hits(NamedTuple):
    """What the rays met: which surface, where, and its normal."""

    surface: NDArray[np.intp]  # (N,)
    point: Floats  # (3, N)
    normal: Floats  # (3, N)


def render(solid: Solid, angle: float) -> Floats:
    """Planes (5, SIZE, SIZE), one for each of SURFACES, with the eye turned by `angle` degrees.

    A pixel's colour is the sum of planes times colours: a plane holds the part of the pixel that
    its surface covers, times how bright that is there.
    """
    turn = math.radians(angle)
    eye, rays = _camera(turn)
    hits = _first_hits(solid, eye, rays)
    bright, gloss = _light(solid, hits, turn)
    planes = [np.where(hits.surface == k, bright, 0) for k in (FLOOR, WALL, OBJECT)]
    planes += [hits.surface == SKY, np.where(hits.surface == OBJECT, gloss, 0)]
    fine = np.stack(planes).reshape(len(SURFACES), SIZE, FINE, SIZE, FINE)
    smooth: Floats = fine.mean((2, 4), dtype=np.float32)
    return smooth


def _camera(turn: float) -> tuple[Floats, Floats]:
    """Where the eye is, (3, 1), and a ray for each part of each pixel, (3, N), row by row."""
    count = SIZE * FINE
    steps = ((np.arange(count, dtype=np.float32) + 0.5) / count * 2 - 1) * math.tan(
        FIELD_OF_VIEW / 2
    )
    right, down = (axis.ravel() for axis in np.meshgrid(steps, steps))
    ahead = math.cos(PITCH) + down * math.sin(PITCH)
    up = math.sin(PITCH) - down * math.cos(PITCH)
    sine, cosine = math.sin(turn), math.cos(turn)
    rays = np.stack([right * cosine + ahead * sine, up, ahead * cosine - right * sine])
    eye = np.array([[-EYE_DISTANCE * sine], [EYE_HEIGHT], [-EYE_DISTANCE * cosine]])
    return eye.astype(np.float32), rays.astype(np.float32)


def _first_hits(solid: Solid, eye: Floats, rays: Floats) -> Hits:
    room, distance, normal = _room(eye, rays)
    enter, leave = solid.span(eye, rays)
    met = enter <= leave
    point = (eye + np.where(met, enter, distance) * rays).astype(np.float32)
    normal[:, met] = solid.normal(point[:, met])
    return Hits(np.where(met, OBJECT, room), point, normal)


def _room(eye: Floats, rays: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Surface, distance and normal where rays meet the empty room; the sky is over the walls."""
    right = np.sign(rays[0])
    with np.errstate(divide="ignore"):  # a ray along a wall meets it at infinity
        floor = np.where(rays[1] < 0, -eye[1] / rays[1], np.inf)
        back = np.where(rays[2] > 0, (BACK_WALL - eye[2]) / rays[2], np.inf)
        side = (SIDE_WALLS - eye[0] * right) / np.abs(rays[0])
    wall = np.minimum(back, side)
    high = eye[1] + wall * rays[1] > WALL_HEIGHT
    surface = np.where(floor < wall, FLOOR, np.where(high, SKY, WALL))
    on_back, on_side = ((surface == WALL) & (wall == part) for part in (back, side))
    normal = np.stack([-right * on_side, surface == FLOOR, -1.0 * on_back]).astype(np.float32)
    return surface, np.minimum(floor, wall), normal


def _light(solid: Solid, hits: Hits, turn: float) -> tuple[Floats, Floats]:
    """How bright each point is, (N,), and how much white shines on top of that.

    The gloss is all or nothing, as in the original: it ends where the lamp's light only grazes.
    """
    toward = LAMP_PLACE - hits.point
    toward /= np.linalg.norm(toward, axis=0)
    axis = LAMP_PLACE - LAMP_TARGET
    beam = ((toward * axis).sum(0) / np.linalg.norm(axis)) ** BEAM
    facing = (hits.normal * toward).sum(0)
    beam[_in_shadow(solid, hits) | (facing < 0)] = 0
    forward = np.array([math.sin(turn), 0.0, math.cos(turn)], dtype=np.float32)
    facing_eye = np.maximum(-(forward @ hits.normal), 0)
    return AMBIENT + HEADLAMP * facing_eye + LAMP * beam * facing, GLOSS * beam


def _in_shadow(solid: Solid, hits: Hits) -> NDArray[np.bool_]:
    """Floor that the solid keeps the lamp from; its shadow does not reach the walls."""
    shadow: NDArray[np.bool_] = hits.surface == FLOOR
    point = hits.point[:, shadow]
    enter, leave = solid.span(point, LAMP_PLACE - point)
    shadow[shadow] = (enter <= leave) & (leave > 0)
    return shadow
