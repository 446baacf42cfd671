"""Fitting of pictures of any size to the size of a model."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpr import VPRError
from vpr.video import Fit
from vpr.video.container import Orientation, orientation_from_matrix
from vpr.video.fit import Mode

sides = st.integers(1, 70)


@settings(deadline=None)
@given(sides, sides, sides, sides, st.sampled_from(get_args(Mode)), st.sampled_from([1, 3]))
def test_result_has_the_requested_size(
    height: int, width: int, high: int, wide: int, mode: Mode, channels: int
) -> None:
    fit = Fit(high, wide, channels, mode)
    picture = np.full((height, width, 3), 200, dtype=np.uint8)
    fitted = fit(picture)
    assert fitted.shape == (high, wide, channels)
    assert fitted.dtype == np.uint8
    assert fitted.max() == 200
    if mode != "letterbox":
        assert fitted.min() == 200  # no bars


def test_letterbox_keeps_all_with_bars_on_either_side() -> None:
    picture = np.full((20, 40, 3), 255, dtype=np.uint8)
    fitted = Fit(32, 32, mode="letterbox")(picture)
    assert (fitted[8:24] == 255).all()
    assert not fitted[:8].any()
    assert not fitted[24:].any()


def test_crop_keeps_the_middle() -> None:
    picture = np.zeros((20, 40, 3), dtype=np.uint8)
    picture[:, 10:30] = 255
    assert (Fit(20, 20, mode="crop")(picture) == 255).all()


def test_stretch_keeps_the_corners() -> None:
    picture = np.zeros((20, 40, 3), dtype=np.uint8)
    picture[:10, :20] = 255
    fitted = Fit(10, 10)(picture)
    assert (fitted[:5, :5] == 255).all()
    assert not fitted[5:].any()
    assert not fitted[:, 5:].any()


def test_a_pixel_is_the_mean_of_what_it_covers() -> None:
    picture = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    means = picture.reshape(8, 8, 8, 8, 3).mean((1, 3))
    assert np.abs(Fit(8, 8)(picture) - means).max() <= 1


def test_size_of_narrow_pictures_is_limited() -> None:
    assert max(Fit(64, 64, mode="crop").scaled(1, 60_000)) <= 16 * 64


def test_to_a_model() -> None:
    assert Fit.to((1, 32, 48), "crop") == Fit(32, 48, 1, "crop")
    with pytest.raises(VPRError, match="this model needs vectors"):
        Fit.to((8,))
    with pytest.raises(VPRError, match="fit must be one of stretch, letterbox, crop, got zoom"):
        Fit(8, 8, mode="zoom")  # type: ignore[arg-type]
    with pytest.raises(VPRError, match="1 or 3 channels"):
        Fit.to((2, 16, 16))


@settings(deadline=None)
@given(st.booleans(), st.booleans(), st.booleans())
def test_every_display_matrix_of_quarter_turns(swap: bool, columns: bool, rows: bool) -> None:
    """Each pixel goes where the matrix sends it."""
    one = 1 << 16
    across, down = (-one if columns else one), (-one if rows else one)
    a, b, c, d = (0, down, across, 0) if swap else (across, 0, 0, down)
    matrix = np.array([a, b, 0, c, d, 0, 0, 0, 1 << 30], dtype="=i4").tobytes()
    turn = orientation_from_matrix(matrix)
    assert turn == Orientation(swap, columns, rows)
    picture = np.arange(6, dtype=np.uint8).reshape(2, 3, 1)
    shown = turn(picture)
    assert shown.shape[:2] == turn.size(2, 3)
    y, x = np.mgrid[:2, :3]
    to_x, to_y = (a * x + c * y) // one, (b * x + d * y) // one
    to_x, to_y = to_x - to_x.min(), to_y - to_y.min()
    assert np.array_equal(shown[to_y, to_x], picture)


@pytest.mark.parametrize("matrix", [None, b"", bytes(36), bytes(7)])
def test_a_missing_or_short_matrix(matrix: bytes | None) -> None:
    assert orientation_from_matrix(matrix) == Orientation()
