"""Renders the room of 3D Shapes by ray casting, as the weight of each surface's colour per pixel.

The constants were fitted to the authors' published animation: camera and walls to its edges, lights
to its shading. The mean difference from it is below three grey levels. Points and directions are
(3, N) with x to the right, y up and z away from the viewer. All solids are convex, so the part of a
ray that is inside is one interval of distances.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIZE = 64
RAYS_PER_AXIS = 4  # rays per pixel along each axis, for smooth edges
SURFACES = ("floor", "wall", "object", "sky", "gloss")  # gloss is white, on top of the object
FLOOR, WALL, OBJECT, SKY = range(4)

# The solid stands at the origin; the camera rotates around it.
FIELD_OF_VIEW, PITCH = math.radians(45), math.radians(0.37)  # a little upwards
CAMERA_HEIGHT, CAMERA_DISTANCE = 1.82, 7.0
BACK_WALL, SIDE_WALLS, WALL_HEIGHT = 10.0, 9.43, 5.1

# Two lights: a spot light that is fixed in the room, and one at the camera.
AMBIENT, CAMERA_LIGHT, LAMP = 0.36, 0.577, 0.964
LAMP_POSITION = np.array([[-4.66], [23.0], [2.16]], dtype=np.float32)
LAMP_TARGET = np.array([[-4.93], [0.0], [1.24]], dtype=np.float32)
BEAM_EXPONENT = 11  # the larger, the narrower
GLOSS = 0.15

Floats = NDArray[np.float32]
# Distances at which rays enter and leave a solid; enter > leave: a miss.
Span = tuple[Floats, Floats]


class Hits(NamedTuple):
    """The first intersection of each ray: surface, point and normal."""

    surface: NDArray[np.intp]  # (N,)
    point: Floats  # (3, N)
    normal: Floats  # (3, N)


def render(solid: Solid, angle: float) -> Floats:
    """Planes (5, SIZE, SIZE), one for each of SURFACES, with the camera turned by `angle` degrees.

    The colour of a pixel is the sum of planes times colours: a plane is the share of the pixel that
    its surface covers, times its brightness there.
    """
    turn = math.radians(angle)
    camera, rays = _camera(turn)
    hits = _first_hits(solid, camera, rays)
    bright, gloss = _shade(solid, hits, turn)
    planes = [np.where(hits.surface == k, bright, 0) for k in (FLOOR, WALL, OBJECT)]
    planes += [hits.surface == SKY, np.where(hits.surface == OBJECT, gloss, 0)]
    fine = np.stack(planes).reshape(len(SURFACES), SIZE, RAYS_PER_AXIS, SIZE, RAYS_PER_AXIS)
    smooth: Floats = fine.mean((2, 4), dtype=np.float32)
    return smooth


def _camera(turn: float) -> tuple[Floats, Floats]:
    """Position of the camera (3, 1), and a ray for each part of each pixel (3, N), row by row."""
    count = SIZE * RAYS_PER_AXIS
    steps = ((np.arange(count, dtype=np.float32) + 0.5) / count * 2 - 1) * math.tan(
        FIELD_OF_VIEW / 2
    )
    right, down = (axis.ravel() for axis in np.meshgrid(steps, steps))
    ahead = math.cos(PITCH) + down * math.sin(PITCH)
    up = math.sin(PITCH) - down * math.cos(PITCH)
    sine, cosine = math.sin(turn), math.cos(turn)
    rays = np.stack([right * cosine + ahead * sine, up, ahead * cosine - right * sine])
    camera = np.array([[-CAMERA_DISTANCE * sine], [CAMERA_HEIGHT], [-CAMERA_DISTANCE * cosine]])
    return camera.astype(np.float32), rays.astype(np.float32)


def _first_hits(solid: Solid, camera: Floats, rays: Floats) -> Hits:
    room, distance, normal = _hit_room(camera, rays)
    enter, leave = solid.span(camera, rays)
    hit = enter <= leave
    point = (camera + np.where(hit, enter, distance) * rays).astype(np.float32)
    normal[:, hit] = solid.normal(point[:, hit])
    return Hits(np.where(hit, OBJECT, room), point, normal)


def _hit_room(camera: Floats, rays: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Surface, distance and normal where rays hit the empty room; the sky is above the walls."""
    right = np.sign(rays[0])
    with np.errstate(divide="ignore"):  # a ray parallel to a wall hits it at infinity
        floor = np.where(rays[1] < 0, -camera[1] / rays[1], np.inf)
        back = np.where(rays[2] > 0, (BACK_WALL - camera[2]) / rays[2], np.inf)
        side = (SIDE_WALLS - camera[0] * right) / np.abs(rays[0])
    wall = np.minimum(back, side)
    high = camera[1] + wall * rays[1] > WALL_HEIGHT
    surface = np.where(floor < wall, FLOOR, np.where(high, SKY, WALL))
    on_back, on_side = ((surface == WALL) & (wall == part) for part in (back, side))
    normal = np.stack([-right * on_side, surface == FLOOR, -1.0 * on_back]).astype(np.float32)
    return surface, np.minimum(floor, wall), normal


def _shade(solid: Solid, hits: Hits, turn: float) -> tuple[Floats, Floats]:
    """Brightness of each point (N,), and the weight of the white gloss on top of it.

    As in the original, the gloss has a hard edge, where the surface turns away from the lamp.
    """
    toward = LAMP_POSITION - hits.point
    toward /= np.linalg.norm(toward, axis=0)
    axis = LAMP_POSITION - LAMP_TARGET
    beam = ((toward * axis).sum(0) / np.linalg.norm(axis)) ** BEAM_EXPONENT
    facing = (hits.normal * toward).sum(0)
    beam[_in_shadow(solid, hits) | (facing < 0)] = 0
    forward = np.array([math.sin(turn), 0.0, math.cos(turn)], dtype=np.float32)
    facing_camera = np.maximum(-(forward @ hits.normal), 0)
    return AMBIENT + CAMERA_LIGHT * facing_camera + LAMP * beam * facing, GLOSS * beam


def _in_shadow(solid: Solid, hits: Hits) -> NDArray[np.bool_]:
    """Points of the floor that are in the shadow of the solid, which does not reach the walls."""
    shadow: NDArray[np.bool_] = hits.surface == FLOOR
    point = hits.point[:, shadow]
    enter, leave = solid.span(point, LAMP_POSITION - point)
    shadow[shadow] = (enter <= leave) & (leave > 0)
    return shadow


class Solid(NamedTuple):
    """A shape: `span(origin, direction)` of rays, and the outward `normal` at points on it."""

    span: Callable[[Floats, Floats], Span]
    normal: Callable[[Floats], Floats]


def cube(half: float) -> Solid:
    def span(origin: Floats, direction: Floats) -> Span:
        sides = [_slab(origin[i], direction[i], low, low + 2 * half) for i, low in lows]
        return _intersection(_intersection(sides[0], sides[1]), sides[2])

    def normal(point: Floats) -> Floats:
        offset = point - _at_height(half)
        face = np.abs(offset) == np.abs(offset).max(0)
        return np.where(face, np.sign(offset), 0)

    lows = ((0, -half), (1, 0.0), (2, -half))
    return Solid(span, normal)


def cylinder(radius: float, height: float) -> Solid:
    def span(origin: Floats, direction: Floats) -> Span:
        return _intersection(
            _within_radius(origin[[0, 2]], direction[[0, 2]], radius),
            _slab(origin[1], direction[1], 0.0, height),
        )

    def normal(point: Floats) -> Floats:
        top = point[1] > height * 0.999
        around = np.stack([point[0], np.zeros_like(point[0]), point[2]]) / radius
        return np.where(top, _at_height(1.0), around)

    return Solid(span, normal)


def sphere(radius: float) -> Solid:
    def span(origin: Floats, direction: Floats) -> Span:
        return _within_radius(origin - _at_height(radius), direction, radius)

    def normal(point: Floats) -> Floats:
        return (point - _at_height(radius)) / np.float32(radius)

    return Solid(span, normal)


def capsule(radius: float, height: float) -> Solid:
    low, high = radius, height - radius  # where the round ends begin

    def span(origin: Floats, direction: Floats) -> Span:
        body = _intersection(
            _within_radius(origin[[0, 2]], direction[[0, 2]], radius),
            _slab(origin[1], direction[1], low, high),
        )
        ends = (_within_radius(origin - _at_height(y), direction, radius) for y in (low, high))
        return _union(body, _union(*ends))

    def normal(point: Floats) -> Floats:
        middle = np.zeros_like(point)
        middle[1] = point[1].clip(low, high)
        return (point - middle) / np.float32(radius)

    return Solid(span, normal)


def _at_height(height: float) -> Floats:
    return np.array([[0.0], [height], [0.0]], dtype=np.float32)


def _slab(origin: Floats, direction: Floats, low: float, high: float) -> Span:
    """The span between two parallel planes; rays parallel to them are tilted slightly."""
    slope = np.where(np.abs(direction) < 1e-9, np.float32(1e-9), direction)
    one, other = (low - origin) / slope, (high - origin) / slope
    return np.minimum(one, other), np.maximum(one, other)


def _within_radius(origin: Floats, direction: Floats, radius: float) -> Span:
    """The span within `radius` of the origin: a ball for 3 axes, an infinite cylinder for 2."""
    squared = (direction**2).sum(0)
    along = (origin * direction).sum(0) / squared
    inside = along**2 - ((origin**2).sum(0) - radius**2) / squared
    reach = np.sqrt(np.maximum(inside, 0))
    missed = inside < 0
    return np.where(missed, np.inf, -along - reach), np.where(missed, -np.inf, -along + reach)


def _intersection(one: Span, other: Span) -> Span:
    return np.maximum(one[0], other[0]), np.minimum(one[1], other[1])


def _union(one: Span, other: Span) -> Span:
    """The union of two parts of one convex solid; a part that the ray misses is ignored."""
    enters, leaves = (np.stack(ends) for ends in zip(one, other, strict=True))
    missed = enters > leaves
    return np.where(missed, np.inf, enters).min(0), np.where(missed, -np.inf, leaves).max(0)
