"""Detectors to compare with: PySceneDetect and ruptures."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vpr.errors import VPRError
from vpr.experiments.known_cuts.montage_film import RATE, Film
from vpr.experiments.runner.base import Advance
from vpr.video import Fit, open_footage

Features = NDArray[np.float64]  # (frames, features)
DETECTORS = {
    "content": "PySceneDetect, content",
    "adaptive": "PySceneDetect, adaptive",
    "ruptures": "ruptures",
}
SIDE = 8  # pixels of the downscaled frames for ruptures
PENALTIES = (1e-4, 1e6)  # range: from a change at nearly every frame to none
BISECTIONS = 16  # to a precision of 0.04 %


def require_detectors() -> None:
    """Raise `VPRError` if a package is not installed."""
    for name in ("av", "scenedetect", "ruptures"):
        if find_spec(name) is None:
            raise VPRError(f"the montage needs {name}: pip install 'vpr-torch[compare]'")


def run_detectors(film: Film, advance: Advance) -> dict[str, list[Fraction]]:
    """The times of the boundaries that each detector finds in the test part."""
    detectors: dict[str, Callable[[], list[Fraction]]] = {
        "content": lambda: _scene_cuts(film.test.path, "ContentDetector"),
        "adaptive": lambda: _scene_cuts(film.test.path, "AdaptiveDetector"),
        "ruptures": lambda: _ruptures(film),
    }
    found = {}
    for number, (name, detect) in enumerate(detectors.items()):
        advance(number, len(detectors), DETECTORS[name])
        found[name] = detect()
    return found


def _ruptures(film: Film) -> list[Fraction]:
    """Change points of the test part, with the penalty chosen on the training part."""
    penalty = choose_penalty(features(film.training.path), len(film.training.cuts))
    return [Fraction(frame, RATE) for frame in change_points(features(film.test.path), penalty)]


def _scene_cuts(path: Path, name: str) -> list[Fraction]:
    """Cuts of a detector of PySceneDetect with its default settings."""
    import scenedetect

    scenes = scenedetect.detect(str(path), getattr(scenedetect, name)())
    return [Fraction(begin.frame_num, RATE) for begin, _ in scenes[1:]]


def features(path: Path) -> Features:
    """The pixels of each frame, downscaled, in [0, 1]."""
    small = Fit.to((3, SIDE, SIDE), "stretch")
    frames = [frame.picture.ravel() for frame in open_footage(path, fit=small)]
    return np.stack(frames) / 255


def change_points(signal: Features, penalty: float) -> list[int]:
    """The first frames of the segments, without the first, of the optimal segmentation.

    Its cost is the squared distance of all frames from the mean of their segment, plus the penalty
    for each change.
    """
    from ruptures import KernelCPD

    ends = KernelCPD(kernel="linear", min_size=1).fit(signal).predict(pen=penalty)
    return [int(end) for end in ends[:-1]]


def choose_penalty(signal: Features, count: int) -> float:
    """The largest penalty at which there are at least `count` changes, by bisection."""
    low, high = np.log(PENALTIES)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if len(change_points(signal, float(np.exp(middle)))) >= count:
            low = middle
        else:
            high = middle
    return float(np.exp(low))
