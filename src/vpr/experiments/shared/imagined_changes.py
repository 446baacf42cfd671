"""1,600 imagined frames of 3DSD, whose future is known: are its changes in order, and in time?"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from vpr.config import RunConfig
from vpr.data import Batch, ThreeDShapesDynamic
from vpr.evaluation import score
from vpr.evaluation.timing import ImaginedReading, future, in_event_order, read_imagined
from vpr.experiments.runner.finished import amount
from vpr.experiments.shared.readers import reader_for, watched
from vpr.generation.durations import Durations
from vpr.generation.imagine import Endings
from vpr.model import VPR

FRAMES, SEQUENCES = 1600, 32
PARTS = 16  # in which the share of right frames is told, one after the other


def follow(
    model: VPR, durations: Durations, config: RunConfig, data: ThreeDShapesDynamic, folder: Path
) -> dict[str, Any]:
    """For each kind of endings, of wall and object: are events in order, frames in time?"""
    batch, frames = watched(config, amount(config, SEQUENCES)), amount(config, FRAMES)
    reader, video = reader_for(config, folder.parent), torch.from_numpy(batch.frames)
    return {
        endings: _told(
            read_imagined(model, durations, reader, video, frames, endings=endings), batch, data
        )
        for endings in get_args(Endings)
    }


def _told(seen: ImaginedReading, batch: Batch, data: ThreeDShapesDynamic) -> dict[str, Any]:
    frames, found = seen.boundary.shape[1], {}
    for level, factor, period in ((2, "wall", data.wall_period), (3, "object", data.object_period)):
        values, count = batch.factors[factor], data.counts[factor]
        true = future(values, batch.changes[factor], period, count, frames)
        boundary, painted = seen.boundary[..., level - 1], seen.decoded[factor]
        right = painted == true  # (B, F)
        found[factor] = {
            "order": in_event_order(painted, boundary, values[:, -1], count),
            "time": float(right.mean()),
            "f1": score(_led(boundary), _led(_changes(values[:, -1], true))).f1,
            "parts": right.reshape(len(right), PARTS, -1).mean((0, 2)).tolist(),
        }
    return found


def _changes(last: NDArray[Any], true: NDArray[Any]) -> NDArray[np.bool_]:  # (B,), (B, F) → (B, F)
    return np.asarray(np.diff(true, axis=1, prepend=last[:, None]) != 0)


def _led(marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """With a frame in front, since `score` leaves the first one out."""
    return np.pad(marks, ((0, 0), (1, 0)))
