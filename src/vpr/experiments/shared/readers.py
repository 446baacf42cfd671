"""Who reads the pictures of an experiment's models, and how well."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import torch

from vpr.config import RunConfig
from vpr.data import Batch, MovingBall, ThreeDShapesDynamic, evaluation_rng, unseen
from vpr.errors import VPRError
from vpr.evaluation.extractor import VERSION, Extractor, fit_extractor
from vpr.evaluation.jumps import read_present
from vpr.evaluation.readers import BallReader, Reader, accuracy
from vpr.experiments.runner.finished import amount
from vpr.model import VPR
from vpr.utils.config_json import to_dict
from vpr.utils.files import read_tensors, write_tensors

STEPS = 3000  # of the extractor's training
FRAMES = 30  # watched before a model is asked
SEED = 4  # of the evaluation sequences: others than those of scores, looks and strips


def reader_for(config: RunConfig, runs: Path) -> Reader:
    """In closed form for the ball; for 3DSD an extractor, trained once for all runs in `runs`."""
    data = world_of(config)
    if isinstance(data, MovingBall):
        return BallReader()
    steps = amount(config, STEPS)
    words = json.dumps([VERSION, to_dict(data), steps], sort_keys=True).encode()
    path = runs / f"extractor-{hashlib.sha256(words).hexdigest()[:8]}.safetensors"
    if not path.exists():
        own = path.with_name(f"{os.getpid()}-{path.name}")  # another run may be at it as well
        write_tensors(own, fit_extractor(data, steps).state_dict(), {})
        own.replace(path)
    extractor = Extractor(data.counts)
    extractor.load_state_dict(read_tensors(path)[0])
    return extractor.eval()


def world_of(config: RunConfig) -> MovingBall | ThreeDShapesDynamic:
    """The data, of which the factors can be read off a picture."""
    if not isinstance(config.data, MovingBall | ThreeDShapesDynamic):
        raise VPRError(f"nobody reads the factors off pictures of {config.data.name}")
    return config.data


def watched(config: RunConfig, sequences: int, frames: int = FRAMES) -> Batch:
    """Fresh sequences of so many frames."""
    return unseen(config.data).batch(sequences, frames, evaluation_rng(SEED))


def reader_scores(reader: Reader, model: VPR, batch: Batch) -> dict[str, dict[str, float]]:
    """How often it is right on the last frames, and on what the model makes of them."""
    video = torch.from_numpy(batch.frames)
    last = {name: values[:, -1] for name, values in batch.factors.items()}
    return {
        "true": accuracy(reader(video[:, -1]), last),
        "reconstructed": accuracy(read_present(model, reader, video), last),
    }
