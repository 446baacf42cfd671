"""What others find in the same file: PySceneDetect's detectors, and ruptures."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vpr.errors import VPRError
from vpr.experiments.known_cuts.film import RATE, Film
from vpr.experiments.runner.base import Advance
from vpr.video import Fit, open_footage

Features = NDArray[np.float64]  # (frames, features)
NAMES = {
    "content": "PySceneDetect, content",
    "adaptive": "PySceneDetect, adaptive",
    "ruptures": "ruptures",
}
SIDE = 8  # pixels of the small pictures that ruptures is shown
PENALTIES = (1e-4, 1e6)  # the first makes nearly every frame a change, the last none
HALVINGS = 16  # to 0.04 % of the penalty


def require_rivals() -> None:
    """Better before hours of training than after."""
    for name in ("av", "scenedetect", "ruptures"):
        if find_spec(name) is None:
            raise VPRError(f"the montage needs {name}: pip install 'vpr-torch[compare]'")


def rivals(film: Film, advance: Advance) -> dict[str, list[Fraction]]:
    """The times of the changes that each finds in the test part."""
    asked: dict[str, Callable[[], list[Fraction]]] = {
        "content": lambda: _scene_cuts(film.test.path, "ContentDetector"),
        "adaptive": lambda: _scene_cuts(film.test.path, "AdaptiveDetector"),
        "ruptures": lambda: _change_points(film),
    }
    found = {}
    for number, (name, ask) in enumerate(asked.items()):
        advance(number, len(asked), NAMES[name])
        found[name] = ask()
    return found


def _change_points(film: Film) -> list[Fraction]:
    """With the penalty that suits the training part."""
    penalty = fitting_penalty(features(film.training.path), len(film.training.cuts))
    return [Fraction(frame, RATE) for frame in changes(features(film.test.path), penalty)]


def _scene_cuts(path: Path, name: str) -> list[Fraction]:
    """Of a detector as it comes, with its own settings."""
    import scenedetect

    scenes = scenedetect.detect(str(path), getattr(scenedetect, name)())
    return [Fraction(begin.frame_num, RATE) for begin, _ in scenes[1:]]


def features(path: Path) -> Features:
    """Each frame as a very small picture, in [0, 1]."""
    small = Fit.to((3, SIDE, SIDE), "stretch")
    frames = [frame.picture.ravel() for frame in open_footage(path, fit=small)]
    return np.stack(frames) / 255


def changes(signal: Features, penalty: float) -> list[int]:
    """Where the mean of the features changes: first frames, of the cheapest division there is.

    Its price is the squared distance of all frames from the mean of their segment, and the penalty
    for each change.
    """
    from ruptures import KernelCPD

    ends = KernelCPD(kernel="linear", min_size=1).fit(signal).predict(pen=penalty)
    return [int(end) for end in ends[:-1]]


def fitting_penalty(signal: Features, count: int) -> float:
    """The largest under which there are at least so many changes: more penalty, fewer changes."""
    low, high = np.log(PENALTIES)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if len(changes(signal, float(np.exp(middle)))) >= count:
            low = middle
        else:
            high = middle
    return float(np.exp(low))
