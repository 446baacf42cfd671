"""Footage without times of its own: folders of pictures, arrays, pipes."""

from __future__ import annotations

import io
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.video.encode import numbered
from vpr import VPRError
from vpr.video import Fit, open_footage

CLIP = np.stack([numbered(i) for i in range(5)])


@pytest.fixture(params=["npy", "npz", "compressed", "memory", "folder", "pipe"])
def what(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, object]:
    """The same clip in every kind, as the arguments that open it."""
    path = tmp_path / "clip.npz"
    match request.param:
        case "npy":
            path = tmp_path / "clip.npy"
            np.save(path, CLIP)
        case "npz":
            np.savez(path, CLIP)
        case "compressed":
            np.savez_compressed(path, frames=CLIP)
        case "memory":
            return {"what": CLIP}
        case "folder":
            path = tmp_path / "clip"
            path.mkdir()
            for i, picture in enumerate(CLIP):
                Image.fromarray(picture).save(path / f"frame{i + 7}.png")  # frame9, then frame10
        case "pipe":
            buffer = io.BytesIO(CLIP.tobytes())
            monkeypatch.setattr(sys, "stdin", type("In", (), {"buffer": buffer}))
            return {"what": "-", "size": (64, 36)}
    return {"what": path}


def test_the_same_clip_in_every_kind(what: dict[str, object]) -> None:
    source = open_footage(rate="30000/1001", **what)  # type: ignore[arg-type]
    frames = list(source)
    assert np.array_equal(np.stack([frame.picture for frame in frames]), CLIP)
    assert [frame.number for frame in frames] == list(range(5))
    assert [frame.time for frame in frames] == [n * Fraction(1001, 30_000) for n in range(5)]
    assert source.expected in (5, None)
    assert source.problem is None
    assert frames[0].thumbnail(32).shape == (18, 32, 3)
    assert frames[0].picture.flags.writeable  # or PyTorch warns


def test_grey_and_fitted_in_every_kind(what: dict[str, object]) -> None:
    fit = Fit(16, 32, 1, "crop")
    for frame, picture in zip(open_footage(fit=fit, **what), CLIP, strict=True):  # type: ignore[arg-type]
        assert np.array_equal(frame.picture, fit(picture))
        assert frame.picture.shape == (16, 32, 1)
        assert frame.thumbnail().shape == (36, 64, 3)  # still whole, and in colours


def test_default_rate_is_25() -> None:
    assert [frame.time for frame in open_footage(CLIP)][:2] == [0, Fraction(1, 25)]


@pytest.mark.parametrize("rate", [0, -1, "fast", "1/0", float("nan"), 1e9])
def test_invalid_rates(rate: object) -> None:
    with pytest.raises(VPRError, match="rate must be"):
        open_footage(CLIP, rate=rate)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_are_from_0_to_1(dtype: type) -> None:
    values = (CLIP / 255).astype(dtype)
    assert np.abs(_pictures(values).astype(int) - CLIP).max() <= 1
    assert np.array_equal(_pictures(values[..., 0]), _pictures(values[..., :1].repeat(3, -1)))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda a: _put(a, np.nan), "NaN or infinity in frame 3: replace"),
        (lambda a: _put(a, np.inf), "NaN or infinity in frame 3"),
        (lambda a: _put(a, 255), r"255 in frame 3: floats must be in \[0, 1\]"),
        (lambda a: _put(a, -1), "-1 in frame 3"),
        (lambda a: a[:0], "has no frames"),
        (lambda a: a[0], r"must have shape \(T, H, W\) .* not \(36, 64, 3\)"),
        (lambda a: a.transpose(0, 3, 1, 2), r"not \(5, 3, 36, 64\)"),
        (lambda a: (a * 255).astype(np.int64), "has type int64: save uint8"),
        (lambda a: a.astype("O"), "has type object"),
        (lambda a: np.broadcast_to(np.uint8(0), (2, 9000, 9000)), "9000×9000"),
    ],
)
def test_invalid_arrays(tmp_path: Path, spoil: object, says: str) -> None:
    values = spoil((CLIP / 255).astype(np.float32))  # type: ignore[operator]
    with pytest.raises(VPRError, match=says):
        list(open_footage(values))


def test_invalid_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "two.npz", a=CLIP, b=CLIP)
    with pytest.raises(VPRError, match="has 2 arrays: save the frames as the only one"):
        open_footage(tmp_path / "two.npz")
    np.save(tmp_path / "columns.npy", np.asfortranarray(CLIP))
    with pytest.raises(VPRError, match="is in Fortran order"):
        open_footage(tmp_path / "columns.npy")
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(VPRError, match="has type object"):
        open_footage(tmp_path / "objects.npy")


def test_a_truncated_file(tmp_path: Path) -> None:
    path = tmp_path / "cut.npy"
    np.save(path, CLIP)
    path.write_bytes(path.read_bytes()[:-10])
    source = open_footage(path)
    assert len(list(source)) == 4
    assert source.problem == f"{path} is cut short: 4 of 5 frames were read"


def test_an_array_by_any_name(tmp_path: Path) -> None:
    np.save(tmp_path / "clip.npy", CLIP)
    path = (tmp_path / "clip.npy").rename(tmp_path / "clip.mp4")
    assert len(list(open_footage(path))) == 5


def test_pictures_of_many_kinds_and_sizes(tmp_path: Path) -> None:
    image = Image.fromarray(CLIP[0])
    image.save(tmp_path / "1.jpg", exif=_turned(image))
    image.convert("P").save(tmp_path / "2.png")
    image.convert("RGBA").resize((20, 10)).save(tmp_path / "3.webp")
    (tmp_path / "4.png").write_bytes(b"broken")
    (tmp_path / "notes.txt").write_text("not a picture")
    (tmp_path / ".5.png").write_bytes(b"hidden")
    source = open_footage(tmp_path)
    assert [frame.picture.shape for frame in source] == [(64, 36, 3), (36, 64, 3), (10, 20, 3)]
    assert source.problem == f"{tmp_path}: 1 of 4 pictures cannot be read, the first is 4.png"
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "1.png").write_bytes(b"broken")
    with pytest.raises(VPRError, match="only has no readable picture"):
        list(open_footage(tmp_path / "only"))


def test_a_truncated_or_empty_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    def pipe(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", type("In", (), {"buffer": io.BytesIO(data)}))

    pipe(CLIP.tobytes()[:-1])
    source = open_footage("-", size=(64, 36))
    assert len(list(source)) == 4
    assert source.problem == "standard input ended within a frame: 4 frames were read"
    pipe(b"")
    with pytest.raises(VPRError, match="has no complete frame of 64×36 rgb24"):
        list(open_footage("-", size=(64, 36)))
    with pytest.raises(VPRError, match="9000×9000"):
        open_footage("-", size=(9000, 9000))


def _pictures(values: np.ndarray) -> np.ndarray:
    return np.stack([frame.picture for frame in open_footage(values)])


def _put(values: np.ndarray, value: float) -> np.ndarray:
    values[3, 5, 7] = value
    return values


def _turned(image: Image.Image) -> Image.Exif:
    exif = image.getexif()
    exif[0x0112] = 6  # to be turned a quarter
    return exif
