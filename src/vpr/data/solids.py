"""The four solids of 3D Shapes, which stand at the origin: ray intersections and normals.

All are convex, so a ray is inside for one interval of distances. Points and directions are (3, N)
with x to the right, y up and z away from the viewer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Span = tuple[Floats, Floats]  # distances at which rays enter and leave; enter > leave: they miss


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
