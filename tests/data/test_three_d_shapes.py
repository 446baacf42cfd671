"""3D Shapes Dynamic: colours, rates, the cache of rooms, and the official file."""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from vpr import VPRError
from vpr.cli import main
from vpr.cli.model_and_data import prepare
from vpr.data import Batch, ThreeDShapesDynamic, three_d_shapes
from vpr.data.three_d_shapes import (
    FACTORS,
    GRID,
    HUES,
    PLANE_SCALE,
    ROOM_COUNT,
    SKY_BLUE,
    Rooms,
    rooms,
)
from vpr.utils.cache_folder import cache_folder
from vpr.utils.files import write_bytes, write_tensors

SMALL = (3, 2, 4, 2, 2, 3)  # the grid of a small official file


def batch(count: int = 5, length: int = 20, seed: int = 0, **fields: object) -> Batch:
    return ThreeDShapesDynamic(**fields).batch(count, length, np.random.default_rng(seed))


def test_pixels_have_the_hue_of_their_label() -> None:
    """Where a pixel belongs to one surface only, and is not so bright that it is clipped."""
    made = batch()
    still = np.stack([made.factors[name][:, 0] for name in FACTORS[3:]])
    planes = (
        rooms().planes[np.ravel_multi_index(tuple(still), GRID)].reshape(-1, 5, 64, 64)
        / PLANE_SCALE
    )
    for k, name in enumerate(FACTORS[:3]):
        alone = (planes[:, k] > 0) & (planes[:, k] <= 1) & (np.delete(planes, k, 1) == 0).all(1)
        for b in range(len(alone)):
            colour = made.frames[b][..., alone[b]]  # (T, 3, pixels)
            hue = HUES[made.factors[name][b]][..., None]
            assert colour.shape[-1] > 50
            assert np.allclose(colour / colour.max(1, keepdims=True), hue, atol=1e-4)


def test_surfaces_are_where_one_expects_them() -> None:
    frames, factors, _ = batch()
    for name, (y, x) in {"floor": (61, 2), "wall": (30, 2), "object": (46, 32)}.items():
        pixel = frames[..., y, x]
        hue = HUES[factors[name]]
        assert (pixel[hue == 1] > 0.3).all()
        assert (pixel.argmax(-1) == hue.argmax(-1)).mean() > 0.7  # clipped channels tie
    assert np.allclose(frames[..., :10, :], SKY_BLUE[:, None, None], atol=1e-6)


def test_a_seed_gives_the_same_pixels() -> None:
    assert np.array_equal(batch(seed=3).frames, batch(seed=3).frames)
    assert not np.array_equal(batch(seed=3).frames, batch(seed=4).frames)


def test_changes_come_at_their_periods_and_together() -> None:
    made = batch(count=8, length=50, floor_period=2, wall_period=4, object_period=12)
    for name, period in zip(FACTORS, (2, 4, 12), strict=False):
        for marks in made.changes[name]:
            assert (np.diff(np.flatnonzero(marks)) == period).all()
            assert marks[1:].any()
        steps = np.diff(made.factors[name], axis=1) % 10
        assert np.array_equal(steps == 1, made.changes[name][:, 1:])
    assert (made.changes["object"] <= made.changes["wall"]).all()
    assert (made.changes["wall"] <= made.changes["floor"]).all()
    firsts = {int(np.flatnonzero(marks)[0]) for marks in made.changes["object"]}
    assert len(firsts) > 1  # each sequence begins somewhere else
    for name in FACTORS[3:]:
        assert not made.changes[name].any()
        assert (made.factors[name] == made.factors[name][:, :1]).all()


def test_aligned_sequences_begin_with_all_periods() -> None:
    made = batch(aligned=True)
    time = np.arange(20)
    for name, period in zip(FACTORS, (1, 4, 8), strict=False):
        assert (made.changes[name] == ((time % period == 0) & (time > 0))).all()


def test_factors_come_fastest_first() -> None:
    assert tuple(batch(2, 4).factors) == tuple(batch(2, 4).changes) == FACTORS


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A fast renderer that records the requested angles."""
    angles: list[float] = []

    def render(solid: object, angle: float) -> NDArray[np.float32]:
        angles.append(angle)
        return np.full((5, 64, 64), 0.5 + angle / 100, dtype=np.float32)

    monkeypatch.setattr(three_d_shapes, "render", render)
    return angles


def test_rooms_are_rendered_once_and_kept(tmp_path: Path, drawn: list[float]) -> None:
    path, progress = tmp_path / "sub" / "rooms.safetensors", []
    first = Rooms(path)
    first.prepare(np.array([7, 7, 9]))
    assert len(drawn) == 2
    assert not path.exists()  # a cache is whole or not there
    first.prepare(np.arange(ROOM_COUNT), lambda *now: progress.append(now))
    assert progress[0] == (1, 478)
    assert progress[-1] == (478, 478)
    again = Rooms(path)
    again.prepare(np.arange(ROOM_COUNT))
    assert len(drawn) == ROOM_COUNT
    assert np.array_equal(first.planes, again.planes)


def foreign(path: Path) -> None:
    write_tensors(path, {}, {})


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: write_bytes(path, path.read_bytes()[:-100]),
        lambda path: write_bytes(path, path.read_bytes()[:-1] + b"?"),
        lambda path: write_bytes(path, b"something else"),
        foreign,
    ],
)
def test_a_damaged_cache_is_written_again(
    spoil: Callable[[Path], None], tmp_path: Path, drawn: list[float]
) -> None:
    path = tmp_path / "rooms.safetensors"
    whole = Rooms(path)
    whole.prepare(np.arange(ROOM_COUNT))
    spoil(path)
    repaired = Rooms(path)
    repaired.prepare(np.arange(ROOM_COUNT))
    assert len(drawn) == 2 * ROOM_COUNT
    assert Rooms(path).rendered.all()
    assert np.array_equal(Rooms(path).planes, whole.planes)


def test_without_a_cache_folder_rooms_stay_in_memory(tmp_path: Path, drawn: list[float]) -> None:
    (tmp_path / "file").write_text("no folder")
    kept = Rooms(tmp_path / "file" / "rooms.safetensors")
    kept.prepare(np.arange(ROOM_COUNT))
    kept.prepare(np.arange(ROOM_COUNT))
    assert len(drawn) == ROOM_COUNT


def test_a_command_shows_how_rendering_goes(
    tmp_path: Path,
    drawn: list[float],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(three_d_shapes, "rooms", cache(rooms.__wrapped__))
    prepare(ThreeDShapesDynamic())
    assert len(drawn) == ROOM_COUNT
    assert [path.name for path in (tmp_path / "vpr").iterdir()] == ["3dsd-v1.safetensors"]
    assert "480/480" in capsys.readouterr().err


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "vpr"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_folder() == tmp_path / ".cache" / "vpr"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "vpr"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache_folder() == tmp_path / "local" / "vpr"

    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", homeless)
    assert cache_folder().name == "vpr"


def test_data_command(tmp_path: Path) -> None:
    words = ["data", "3dsd", "--out", str(tmp_path), "--sequences", "2", "--length", "3"]
    assert main(words) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"3dsd.png", "3dsd.gif"}


def official(path: Path, order: NDArray[np.int64], kept: int | None = None) -> str:
    """A small file of the official layout; the first two numbers of an image tell its place."""
    import h5py

    place = np.stack(np.unravel_index(order, SMALL), -1)  # (rows, 6)
    labels = place / np.array([3.0, 2, 4, 1, 1, 2]) + np.array([0, 0, 0, 0.75, 0, -30])
    images = np.zeros((len(order), 64, 64, 3), dtype=np.uint8)
    images[..., 0], images[..., 1] = (
        part[:, None, None] for part in np.divmod(order.astype(np.uint16), 256)
    )
    with h5py.File(path, "w") as file:
        file["images"], file["labels"] = images[:kept], labels[:kept]
    return str(path)


@pytest.mark.parametrize("shuffled", [False, True])
def test_official_file(tmp_path: Path, shuffled: bool) -> None:
    pytest.importorskip("h5py")
    order = np.arange(np.prod(SMALL))
    if shuffled:
        np.random.default_rng(0).shuffle(order)
    made = batch(6, 30, file=official(tmp_path / "3dshapes.h5", order))
    rendered = batch(6, 30)
    assert made.frames.shape == rendered.frames.shape
    assert made.frames.dtype == np.float32
    assert tuple(made.factors) == tuple(rendered.factors)
    assert np.array_equal(made.changes["object"], rendered.changes["object"])
    place = np.ravel_multi_index(tuple(made.factors[name] for name in FACTORS), SMALL)
    high, low = (made.frames[:, :, c, 5, 5] * 255 for c in range(2))
    assert np.array_equal((high * 256 + low).round(), place)
    for name, size in zip(FACTORS, SMALL, strict=True):
        assert made.factors[name].max() < size


def test_files_that_are_not_3d_shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(VPRError, match=r"gone\.h5 does not exist: give the path of 3dshapes\.h5"):
        batch(file=str(tmp_path / "gone.h5"))
    text = tmp_path / "text.h5"
    text.write_text("hello")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "h5py", None)
        with pytest.raises(VPRError, match=r"pip install 'vpr-torch\[shapes\]'"):
            batch(file=str(text))
    h5py = pytest.importorskip("h5py")
    with pytest.raises(VPRError, match="is not the file of 3D Shapes"):
        batch(file=str(text))
    with h5py.File(tmp_path / "empty.h5", "w"):
        pass
    with pytest.raises(VPRError, match="is not the file of 3D Shapes"):
        batch(file=str(tmp_path / "empty.h5"))
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["images"], file["labels"] = np.zeros((4, 8, 8, 3)), np.zeros((4, 6))
    with pytest.raises(VPRError, match="its images or labels differ"):
        batch(file=str(tmp_path / "other.h5"))
    cut = official(tmp_path / "cut.h5", np.arange(np.prod(SMALL)), kept=-5)
    with pytest.raises(VPRError, match="is incomplete"):
        batch(file=cut)


@pytest.mark.parametrize("period", ["floor_period", "wall_period", "object_period"])
def test_invalid_periods(period: str) -> None:
    with pytest.raises(VPRError, match=rf"^{period} must be 1 to 10,000 frames, got 0$"):
        ThreeDShapesDynamic(**{period: 0})
