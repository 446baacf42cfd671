"""The renderer: solids against their definitions, the room against measurements."""

import numpy as np
import pytest
from numpy.typing import NDArray

from vpr.data.room_renderer import (
    AMBIENT,
    FLOOR,
    OBJECT,
    SKY,
    WALL,
    Solid,
    capsule,
    cube,
    cylinder,
    render,
    sphere,
)
from vpr.data.three_d_shapes import ORIENTATIONS, SHAPES


def inside(name: str, point: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Is a point in the solid of this name, which has half-width 1 and height 2, or 4?"""
    x, y, z = point
    if name == "cube":
        return (np.abs(x) < 1) & (np.abs(z) < 1) & (y > 0) & (y < 2)
    if name == "cylinder":
        return (np.hypot(x, z) < 1) & (y > 0) & (y < 2)
    middle = 1.0 if name == "sphere" else y.clip(1, 3)
    return x**2 + z**2 + (y - middle) ** 2 < 1


SOLIDS: dict[str, Solid] = {
    "cube": cube(1.0),
    "cylinder": cylinder(1.0, 2.0),
    "sphere": sphere(1.0),
    "capsule": capsule(1.0, 4.0),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_rays_are_inside_from_where_they_enter_to_where_they_leave(name: str) -> None:
    rng = np.random.default_rng(0)
    origin = rng.uniform(-6, 6, (3, 400)).astype(np.float32)
    target = rng.uniform([[-1.3], [-0.3], [-1.3]], [[1.3], [4.3], [1.3]], (3, 400))
    rays = (target - origin).astype(np.float32)
    enter, leave = SOLIDS[name].span(origin, rays)
    along = np.linspace(-1, 4, 251, dtype=np.float32)  # (S,) in steps of the ray's length
    walked = origin[..., None] + rays[..., None] * along
    far = np.minimum(np.abs(along - enter[:, None]), np.abs(along - leave[:, None])) > 0.01
    within = (along > enter[:, None]) & (along < leave[:, None])
    assert np.array_equal(inside(name, walked)[far], within[far])
    assert 100 < (enter <= leave).sum() < 400


@pytest.mark.parametrize("name", SOLIDS)
def test_normals_point_outwards(name: str) -> None:
    rng = np.random.default_rng(1)
    origin = rng.uniform(3, 6, (3, 300)).astype(np.float32)
    rays = (rng.uniform(-0.6, 1.6, (3, 300)) - origin).astype(np.float32)
    enter, leave = SOLIDS[name].span(origin, rays)
    hit = enter <= leave
    point = (origin + enter * rays)[:, hit]
    normal = SOLIDS[name].normal(point)
    assert np.allclose(np.linalg.norm(normal, axis=0), 1, atol=1e-3)
    assert not inside(name, point + 0.01 * normal).any()
    assert inside(name, point - 0.01 * normal).all()


def test_walls_are_where_the_original_has_them() -> None:
    """Rows of sky in columns of the published animation, to half a pixel."""
    measured = {0: {0: 15.8, 21: 20.0, 63: 15.3}, 6: {0: 18.2, 63: 17.4}, 12: {0: 15.8, 51: 19.8}}
    for orientation, columns in measured.items():
        planes = render(SHAPES[0](0.75), ORIENTATIONS[orientation])
        for column, rows in columns.items():
            assert planes[SKY, :, column].sum() == pytest.approx(rows, abs=0.5)


def test_a_room_has_every_surface_and_a_shadow() -> None:
    planes = render(SHAPES[2](1.0), 0.0)
    assert planes.shape == (5, 64, 64)
    assert planes.min() >= 0
    assert (planes.sum(0) > 0.3).all()
    assert (planes[FLOOR, 60] > 0.7).all()
    assert (planes[WALL, 30, [2, 61]] > 0.7).all()
    assert planes[OBJECT, 46, 32] > 0.7
    under = planes[FLOOR][np.isclose(planes[FLOOR], AMBIENT, atol=1e-3)]
    assert 10 < len(under) < 200
