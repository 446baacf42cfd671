"""Detectors that the footage model is compared with."""

import sys
from pathlib import Path

import numpy as np
import pytest

from vpr.errors import VPRError
from vpr.experiments.footage.detectors import (
    best_threshold,
    change_points,
    choose_penalty,
    scene_cuts,
)
from vpr.video.mp4 import write_mp4


def test_the_penalty_gives_the_wanted_number_of_changes() -> None:
    rng = np.random.default_rng(0)
    true = [20, 50, 65, 100, 130]
    pieces = np.split(np.zeros((160, 6)), true)
    signal = np.concatenate([piece + rng.random(6) for piece in pieces])
    signal += 0.02 * rng.standard_normal(signal.shape)
    penalty = choose_penalty(signal, len(true))
    assert change_points(signal, penalty) == true
    assert len(change_points(signal, 2 * penalty)) < len(true)


def test_a_threshold_is_chosen_for_all_films_together() -> None:
    scores, times = np.full(200, 0.1), np.arange(200.0)
    scores[[50, 100]] = 1.0
    weak = np.where(scores > 0.5, 0.6, 0.1)
    asked: list[list[list[float]]] = []

    def score(found: list[list[float]]) -> float:
        asked.append(found)
        return sum(each == [50.0, 100.0] for each in found)

    threshold = best_threshold([(scores, times), (weak, times)], score)
    assert 0.1 < threshold <= 0.6
    assert all(len(found) == 2 for found in asked)


@pytest.mark.parametrize("name", ["ContentDetector", "AdaptiveDetector"])
def test_scene_cuts_are_times_of_the_film(tmp_path: Path, name: str) -> None:
    """Each scene has another brightness, so that the cuts are easy to find."""
    shades = np.repeat(np.array([30, 200, 90, 240], np.uint8), (20, 31, 25, 40))
    pictures = shades[:, None, None, None].repeat(64, 1).repeat(64, 2).repeat(3, 3)
    write_mp4(tmp_path / "film.mp4", pictures, 40)
    assert scene_cuts(tmp_path / "film.mp4", name) == pytest.approx([0.8, 2.04, 3.04])


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ruptures", None)
    with pytest.raises(VPRError, match="needs ruptures: pip install 'vpr-torch\\[compare\\]'"):
        change_points(np.zeros((4, 1)), 1.0)
    monkeypatch.setitem(sys.modules, "scenedetect", None)
    with pytest.raises(VPRError, match="needs scenedetect"):
        scene_cuts(Path("film.mp4"), "ContentDetector")
