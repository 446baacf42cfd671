"""Check whether the events of a timeline can be trusted, and warn if not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from vpr.data import Vectors, Video
from vpr.model import VPR
from vpr.pretrained.training_record import TrainingRecord
from vpr.segmenting.inputs import ModelInput
from vpr.segmenting.timeline import Timeline

MIN_VARIANCE = 0.01  # of pixels in [0, 1], so that noise in dark footage does not count
DEFAULT_EXPLAINED = 0.5  # share explained in training, if it is not recorded
MIN_EXPLAINED_RATIO = 0.5  # of the share explained in training; less: unlike the training data
MAX_DISTANCE = 3.0  # of vectors from the training mean, relative to the training data
MIN_FRAMES, MAX_EVENT_SHARE = 100, 0.5  # footage to check; share of its frames with an event


def find_warnings(
    detected: Timeline,
    reported: Timeline,
    record: TrainingRecord,
    model: VPR,
    inputs: ModelInput,
    rows: NDArray[np.generic],
) -> tuple[str, ...]:
    """Warnings of one or two sentences: what is wrong, and what to do.

    `detected` has all events, `reported` those that were selected. `rows` are a sample of the
    footage, before preprocessing.
    """
    found = [*_of_training(record), *_of_frames(record, model, inputs, rows)]
    return (*found, *_of_events(detected, reported))


def _of_training(record: TrainingRecord) -> Iterator[str]:
    if record.is_unfinished:
        yield (
            f"The model is not trained completely: step {record.step:,} of {record.steps:,}. "
            "Continue with vpr train --out and its folder."
        )


def _of_frames(
    record: TrainingRecord, model: VPR, inputs: ModelInput, rows: NDArray[np.generic]
) -> Iterator[str]:
    advice = "Train a model on this footage, for example with --adapt."
    if len(inputs.frame) == 3:
        usual = DEFAULT_EXPLAINED if record.explained is None else record.explained
        share = explained(model, inputs, rows)
        if share < MIN_EXPLAINED_RATIO * max(usual, 0.0):
            known = record.data not in (None, Video.name, Vectors.name)
            trained = f"generated pictures ({record.data})" if known else "other frames"
            yield (
                f"The model was trained on {trained}: it reconstructs {max(share, 0):.0%} of the "
                f"variation of these frames. {advice}"
            )
    elif inputs.preprocessing is not None:
        distance = inputs.preprocessing.distance(rows)
        if distance > MAX_DISTANCE:
            yield (
                f"The features are {distance:.1f} times as far from their mean in training as "
                f"those of the training data. {advice}"
            )


@torch.inference_mode()
def explained(model: VPR, inputs: ModelInput, rows: NDArray[np.generic]) -> float:
    """The share of the variation of pictures (K, H, W, C) that the model reconstructs.

    The variation is measured around the mean colour, so it is not small for footage of one scene.
    """
    frames = inputs.scaled(rows)
    decoded = model.reconstruct(model.observe(frames.unsqueeze(1)).c0[:, 0])
    variation = frames.var(dim=(0, 2, 3), correction=0).mean().clamp(min=MIN_VARIANCE)
    return 1 - float((decoded - frames).square().mean() / variation)


def _of_events(detected: Timeline, reported: Timeline) -> Iterator[str]:
    frames = detected.frames
    if frames == 1:
        yield "One frame: no events are possible."
    if frames < MIN_FRAMES:
        return
    if not detected.boundaries:
        yield f"No level has an event in {frames:,} frames. Try a smaller --threshold."
    for level in reported.reported_levels:
        share = len(reported.events(level)) / frames
        if share > MAX_EVENT_SHARE:
            yield (
                f"Level {level} has an event at {share:.0%} of all frames. Use --events, --every "
                "or a larger --threshold."
            )
