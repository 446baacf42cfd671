"""Readers of factors for the frames that models generate, and their accuracy."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import torch

from vpr.config import RunConfig
from vpr.data import Batch, MovingBall, ThreeDShapesDynamic, evaluation_rng, unseen
from vpr.errors import VPRError
from vpr.evaluation.extractor import VERSION, Extractor, fit_extractor
from vpr.evaluation.factor_readers import Reader, accuracy, read_ball
from vpr.evaluation.generated_factors import read_reconstruction
from vpr.experiments.runner.settings import scaled_count
from vpr.model import VPR
from vpr.utils.config_json import to_dict
from vpr.utils.files import read_tensors, write_tensors

STEPS = 3000  # training steps of the extractor
FRAMES = 30  # observed before generating
SEED = 4  # of the evaluation sequences; 0, 1 and 2 are used by other evaluations


def reader_for(config: RunConfig, runs: Path) -> Reader:
    """A closed-form reader for the ball; for 3DSD an extractor, trained once per folder `runs`."""
    data = readable_data(config)
    if isinstance(data, MovingBall):
        return read_ball
    steps = scaled_count(config, STEPS)
    key = json.dumps([VERSION, to_dict(data), steps], sort_keys=True).encode()
    path = runs / f"extractor-{hashlib.sha256(key).hexdigest()[:8]}.safetensors"
    if not path.exists():
        write_tensors(path, fit_extractor(data, steps).state_dict(), {})
    extractor = Extractor(data.counts)
    extractor.load_state_dict(read_tensors(path)[0])
    return extractor.eval()


def readable_data(config: RunConfig) -> MovingBall | ThreeDShapesDynamic:
    """The dataset of a run, if there is a reader for its factors."""
    if not isinstance(config.data, MovingBall | ThreeDShapesDynamic):
        raise VPRError(f"there is no reader for the factors of {config.data.name}")
    return config.data


def evaluation_batch(config: RunConfig, sequences: int, frames: int = FRAMES) -> Batch:
    """Sequences that were not used for training; fewer at scale tiny."""
    count = scaled_count(config, sequences)
    return unseen(config.data).batch(count, frames, evaluation_rng(SEED))


def reader_scores(reader: Reader, model: VPR, batch: Batch) -> dict[str, dict[str, float]]:
    """Accuracy of a reader on the last frames, and on their reconstructions."""
    video = torch.from_numpy(batch.frames)
    last = {name: values[:, -1] for name, values in batch.factors.items()}
    return {
        "true": accuracy(reader(video[:, -1]), last),
        "reconstructed": accuracy(read_reconstruction(model, reader, video), last),
    }
