"""The probability that an event of a level is a transition, from the change of the input around it.

VPR's criteria give many events on continuous footage, and the scale of D_st differs between films.
A logistic regression, fitted to films with known transitions, predicts which of the events are
transitions. Its inputs are the distances between the mean input of the model before an event and
after it, over spans of 1 to 16 frames: a cut changes all of them, a dissolve the long ones, a flash
the short ones. Because it looks ahead, it is applied to complete timelines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.errors import VPRError
from vpr.utils.files import read_tensors, write_tensors

Floats = NDArray[np.float64]

SPANS = (1, 2, 4, 8, 16)  # frames before and after an event whose means are compared
NEAR_FRAMES = 6  # frames before and after an event, where it should be the largest change
SCENE_FRAMES = 25  # frames before and after, for the usual size of a change
HIGH_QUANTILE = 0.85  # quantile of the changes around an event above which one is unusual
MIN_CHANGE = 1e-3  # smallest change, before the logarithm
INPUTS = 5 * len(SPANS)  # see `evidence`
GAP = 0.8  # seconds, so that a dissolve of a second is found once
RIDGE = 1.0  # penalty of the squared weights, in events


@dataclass(frozen=True)
class Calibration:
    """One logistic regression per level: weights (level 2 first), each with a bias at the end."""

    weights: dict[int, Floats]  # level → (inputs + 1,)
    gap: float = GAP  # seconds; of events that are closer, only the most probable is kept

    def probabilities(self, changes: Floats, level: int, frames: Sequence[int]) -> Floats:
        """The probabilities of the events of a level at these frames; see `Changes`."""
        if level not in self.weights:
            raise VPRError(f"this model has no probabilities of level {level}")
        if not len(frames):
            return np.zeros(0)
        return logistic(with_bias(evidence(changes, frames)) @ self.weights[level])

    def save(self, path: Path, model: str) -> None:
        """Write the calibration, with the fingerprint `model` of the weights that it belongs to."""
        tensors = {f"level{n}": torch.from_numpy(each) for n, each in self.weights.items()}
        write_tensors(path, tensors, {"model": model, "gap": str(self.gap)})

    def digest(self) -> str:
        """Different for every calibration."""
        parts = [self.gap, *((n, each.tolist()) for n, each in sorted(self.weights.items()))]
        return sha256(repr(parts).encode()).hexdigest()

    @classmethod
    def load(cls, path: Path, model: str) -> Calibration:
        tensors, notes = read_tensors(path)
        if notes.get("model") != model:
            raise VPRError(
                f"{path} was fitted to other weights than these: delete it, or fit it again"
            )
        try:
            weights = {_level(name): _checked(each) for name, each in tensors.items()}
            return cls(weights, _checked_gap(float(notes["gap"])))
        except (KeyError, ValueError) as error:
            raise VPRError(f"{path} is not a calibration file: copy it again") from error


def _level(name: str) -> int:
    level = int(name.removeprefix("level"))
    if level < 2:
        raise ValueError("level 1 has no events")
    return level


def _checked(weights: Tensor) -> Floats:
    array: Floats = weights.double().numpy()
    if array.shape != (INPUTS + 1,) or not np.isfinite(array).all():
        raise ValueError("a level needs a finite weight for each input, and a bias")
    return array


def _checked_gap(gap: float) -> float:
    if not 0 <= gap < np.inf:
        raise ValueError("the gap must be 0 or more")
    return gap


class Changes:
    """How much the input changes at each frame of a film, which is given in parts.

    For each of `SPANS`, the distance between the means of as many frames before a frame and from
    it. The ends of the film are repeated.
    """

    def __init__(self) -> None:
        self._rows: Floats | None = None  # `SPANS[-1]` rows before the next frame, and from it
        self._found: list[NDArray[np.float32]] = []

    def add(self, rows: NDArray[np.floating]) -> None:
        """The next rows (K, F)."""
        double = np.asarray(rows, dtype=np.float64)
        if self._rows is None:
            self._rows = double[:1].repeat(SPANS[-1], 0)
        self._compare(np.concatenate([self._rows, double]))

    def complete(self) -> Floats:
        """The changes (frames, spans), after the last rows."""
        if self._rows is not None:
            self._compare(np.concatenate([self._rows, self._rows[-1:].repeat(SPANS[-1] - 1, 0)]))
        return np.concatenate([np.zeros((0, len(SPANS))), *self._found])

    def _compare(self, rows: Floats) -> None:
        most = SPANS[-1]
        count = max(len(rows) - 2 * most + 1, 0)  # frames with enough rows on both sides
        if count:
            distances = []
            for span in SPANS:
                means = np.lib.stride_tricks.sliding_window_view(rows, span, axis=0).mean(-1)
                before, after = (means[n : n + count] for n in (most - span, most))
                distances.append(np.sqrt(np.square(after - before).mean(1)))
            self._found.append(np.stack(distances, axis=1).astype(np.float32))
        self._rows = rows[count:]


def evidence(changes: Floats, frames: Sequence[int]) -> Floats:
    """The inputs of the regression (events, inputs), from the changes (frames, spans) of a film.

    For each span, the logarithm of the change at the event, and how much it exceeds the median and
    the quantile `HIGH_QUANTILE` around the event and the largest change shortly before and after.
    """
    at, columns = np.asarray(frames), []
    for series in np.log(np.maximum(changes, MIN_CHANGE)).T:
        here, scene = series[at], sliding(series, SCENE_FRAMES)[at]
        near = sliding(series, NEAR_FRAMES)[at]
        usual = (np.median(scene, axis=1), np.quantile(scene, HIGH_QUANTILE, axis=1))
        close = (near[:, :NEAR_FRAMES].max(1), near[:, NEAR_FRAMES + 1 :].max(1))
        columns += [here, *(here - each for each in (*usual, *close))]
    return np.stack(columns, axis=1)


def sliding(values: Floats, reach: int) -> Floats:
    """The values around each frame (frames, 2 · reach + 1); the ends are repeated."""
    padded = np.pad(values, reach, mode="edge")
    return np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1)


def fit_logistic(inputs: Floats, outcomes: NDArray[np.bool_]) -> Floats:
    """Weights (inputs + 1,) of a logistic regression, by Newton's method."""
    mean, std = inputs.mean(0), inputs.std(0) + 1e-9
    x, y = with_bias((inputs - mean) / std), outcomes.astype(np.float64)
    penalty = np.full(x.shape[1], RIDGE)
    penalty[-1] = 1e-6  # not of the bias
    weights = np.zeros(x.shape[1])
    for _ in range(50):
        p = logistic(x @ weights)
        gradient = x.T @ (p - y) + penalty * weights
        hessian = (x * (p * (1 - p))[:, None]).T @ x + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        weights -= step * min(1.0, 4.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < 1e-8:
            break
    slopes = weights[:-1] / std
    return np.append(slopes, weights[-1] - float(slopes @ mean))


def with_bias(inputs: Floats) -> Floats:
    return np.concatenate([inputs, np.ones((len(inputs), 1))], axis=1)


def logistic(score: Floats) -> Floats:
    result: Floats = 1 / (1 + np.exp(-np.clip(score, -500, 500)))
    return result


def non_maximum_suppression(times: Floats, scores: Floats, gap: float) -> NDArray[np.bool_]:
    """Which events remain if, of two that are closer than `gap` seconds, the stronger is kept."""
    kept = np.zeros(len(times), dtype=bool)
    for place in np.argsort(-scores, kind="stable"):
        kept[place] = not (np.abs(times[kept] - times[place]) < gap).any()
    return kept
