"""The probability that an event of a level is a transition, from the evidence around it.

VPR's criteria give many events on continuous footage, and the scale of D_st differs between films.
A logistic regression on D_st and D_ch at the event and in the frames around it, fitted to films
with known transitions, predicts which of them are transitions. It uses only the evidence of the
model. Because it looks ahead by `CONTEXT_FRAMES` frames, it is applied to complete timelines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.errors import VPRError
from vpr.segmenting.timeline import Curves, Series
from vpr.utils.files import read_tensors, write_tensors

Floats = NDArray[np.float64]

CONTEXT_FRAMES = 6  # frames before and after an event
SCENE_FRAMES = 25  # frames before and after, for the typical size of D_st
MIN_DIVERGENCE = 1e-3  # smallest divergence, before the logarithm
HIGH_QUANTILE = 0.85  # quantile of D_st around an event above which it is unusual
RIDGE = 1.0  # penalty of the squared weights, in events


@dataclass(frozen=True)
class Calibration:
    """One logistic regression per level: weights (level 2 first), each with a bias at the end."""

    weights: dict[int, Floats]  # level → (inputs + 1,)
    gap: float = 0.5  # seconds; of events that are closer, only the most probable is kept

    def probabilities(self, curves: dict[int, Curves], level: int, frames: Sequence[int]) -> Floats:
        """The probabilities of the events of a level at these frames."""
        if level not in self.weights:
            raise VPRError(f"this model has no probabilities of level {level}")
        if not len(frames):
            return np.zeros(0)
        return logistic(with_bias(evidence(curves, level, frames)) @ self.weights[level])

    def save(self, path: Path, model: str) -> None:
        """Write the calibration, with the fingerprint `model` of the weights that it belongs to."""
        tensors = {f"level{n}": torch.from_numpy(each) for n, each in self.weights.items()}
        write_tensors(path, tensors, {"model": model, "gap": str(self.gap)})

    @classmethod
    def load(cls, path: Path, model: str) -> Calibration:
        tensors, notes = read_tensors(path)
        if notes.get("model") != model:
            raise VPRError(f"{path} was fitted to other weights than these: fit it again")
        try:
            weights = {int(name.removeprefix("level")): _checked(t) for name, t in tensors.items()}
            return cls(weights, float(notes["gap"]))
        except (KeyError, ValueError) as error:
            raise VPRError(f"{path} is not a calibration file: copy it again") from error


def _checked(weights: Tensor) -> Floats:
    array: Floats = weights.double().numpy()
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError("weights must be finite")
    return array


def evidence(curves: dict[int, Curves], level: int, frames: Sequence[int]) -> Floats:
    """The inputs of the regression (events, inputs), all of them logarithms.

    D_st of level 2, which has a value at every frame: at the event, next to it, around it, and its
    excess over the quantile `HIGH_QUANTILE` there. Flashes and dissolves differ from cuts in the
    frames that follow. For higher levels, also D_st, D_ch and the threshold of the level itself.
    """
    at = np.asarray(frames)
    st = _log(curves[2].kl_static)
    near, scene = sliding(st, CONTEXT_FRAMES)[at], sliding(st, SCENE_FRAMES)[at]
    here = st[at]
    usual = np.quantile(scene, HIGH_QUANTILE, axis=1)
    before, after = near[:, :CONTEXT_FRAMES].max(1), near[:, CONTEXT_FRAMES + 1 :].max(1)
    columns = [
        *near.T,
        np.median(scene, axis=1),
        usual,
        np.maximum(here - usual, 0),
        before,
        after,
        np.minimum(here, before),
        np.minimum(here, after),
    ]
    for n in dict.fromkeys((2, level)):
        columns += _compared(curves[n], at)
    return np.stack(columns, axis=1)


def _compared(curves: Curves, at: NDArray[np.intp]) -> list[Floats]:
    """ln D_st, and relative to the threshold (CU) and to D_ch (CE)."""
    st = _log(curves.kl_static)[at]
    return [st, st - _log(curves.threshold)[at], st - _log(curves.kl_change)[at]]


def _log(series: Series) -> Floats:
    """The logarithm; 0 where a level was not evaluated or has no threshold yet."""
    double = np.asarray(series, dtype=np.float64)
    known = np.isfinite(double)
    result: Floats = np.log(np.where(known, np.maximum(double, MIN_DIVERGENCE), 1.0))
    return result


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
