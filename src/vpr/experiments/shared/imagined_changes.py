"""Order and timing of the changes in 1,600 imagined frames of 3DSD, whose true future is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from vpr.config import RunConfig
from vpr.data import Batch, ThreeDShapesDynamic
from vpr.evaluation import score
from vpr.evaluation.imagined_factors import ImaginedReading, future, in_event_order, read_imagined
from vpr.experiments.runner.settings import scaled_count
from vpr.experiments.shared.readers import evaluation_batch, reader_for
from vpr.generation.durations import Durations
from vpr.generation.imagine import Endings
from vpr.model import VPR

FRAMES, SEQUENCES = 1600, 32
PARTS = 16  # consecutive parts for which the share of correct frames is computed


def score_imagined_changes(
    model: VPR, durations: Durations, config: RunConfig, data: ThreeDShapesDynamic, folder: Path
) -> dict[str, Any]:
    """Scores of wall and object for each kind of endings."""
    batch, frames = evaluation_batch(config, SEQUENCES), scaled_count(config, FRAMES)
    reader, video = reader_for(config, folder.parent), torch.from_numpy(batch.frames)
    return {
        endings: _scores(
            read_imagined(model, durations, reader, video, frames, endings=endings), batch, data
        )
        for endings in get_args(Endings)
    }


def _scores(imagined: ImaginedReading, batch: Batch, data: ThreeDShapesDynamic) -> dict[str, Any]:
    frames, scores = imagined.boundary.shape[1], {}
    for level, factor, period in ((2, "wall", data.wall_period), (3, "object", data.object_period)):
        values, count = batch.factors[factor], data.counts[factor]
        true = future(values, batch.changes[factor], period, count, frames)
        boundary, decoded = imagined.boundary[..., level - 1], imagined.decoded[factor]
        right = decoded == true  # (B, F)
        scores[factor] = {
            "order": in_event_order(decoded, boundary, values[:, -1], count),
            "time": float(right.mean()),
            "f1": score(_prepend_frame(boundary), _prepend_frame(_changes(values[:, -1], true))).f1,
            "parts": right.reshape(len(right), PARTS, -1).mean((0, 2)).tolist(),
        }
    return scores


def _changes(last: NDArray[Any], true: NDArray[Any]) -> NDArray[np.bool_]:  # (B,), (B, F) → (B, F)
    return np.asarray(np.diff(true, axis=1, prepend=last[:, None]) != 0)


def _prepend_frame(marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Add a first frame, which `score` ignores."""
    return np.pad(marks, ((0, 0), (1, 0)))
