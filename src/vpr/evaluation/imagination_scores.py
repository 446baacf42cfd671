"""Scores of imagined futures: calibration of durations, and lengths of events."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.data import Batch, Dataset, evaluation_rng, factor_of, unseen
from vpr.evaluation.calibration import calibration
from vpr.evaluation.evaluate import CHUNK
from vpr.evaluation.lengths import earth_movers_distance, event_lengths
from vpr.generation.durations import Durations
from vpr.generation.event_clock import EventClock
from vpr.generation.imagine import imagine_steps
from vpr.generation.learn_durations import examples
from vpr.model import VPR
from vpr.utils.checks import check_count, check_request


class Observed(NamedTuple):
    """Detected and imagined events of some sequences, and probabilities of updates."""

    forecast: list[NDArray[np.floating]]  # of levels 2 to N, (M,): probability of an update
    outcomes: list[NDArray[np.bool_]]  # (M,)
    detected: NDArray[np.bool_]  # (B, T, N)
    imagined: NDArray[np.bool_]  # (B, frames, N)


@torch.no_grad()
def evaluate_imagination(
    model: VPR,
    durations: Durations,
    data: Dataset,
    *,
    sequences: int = 256,
    length: int = 50,
    frames: int = 200,
    samples: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Calibration of the durations, and true, detected and imagined lengths, of levels 2 to N.

    Each new sequence is observed and then continued by imagination for `frames` frames.
    """
    check_request(model.config, data, sequences, length)
    check_count("frames", frames)
    batch = unseen(data).batch(sequences, length, evaluation_rng(seed))
    generator = torch.Generator().manual_seed(seed)
    parts = [
        _observe(model, durations, video, frames, samples, generator)
        for video in torch.split(
            torch.from_numpy(batch.frames).to(model.device, model.dtype), CHUNK
        )
    ]
    return {
        "levels": {str(n): _level(n, parts, batch) for n in range(2, model.config.levels + 1)},
        "sequences": sequences,
        "length": length,
        "frames": frames,
        "samples": samples,
        "seed": seed,
    }


def _observe(
    model: VPR,
    durations: Durations,
    video: Tensor,
    frames: int,
    samples: bool,
    generator: torch.Generator,
) -> Observed:
    level_examples = examples(model, durations, video)
    forecast = [
        durations.logit(n, level.inputs).sigmoid() for n, level in enumerate(level_examples)
    ]
    trace = model.observe(video)
    future_steps = imagine_steps(
        model,
        trace.state,
        durations,
        clock=EventClock.of(trace),
        samples=samples,
        generator=generator,
    )
    return Observed(
        [level.cpu().numpy() for level in forecast],
        [level.changed.cpu().numpy() for level in level_examples],
        torch.stack([level.evidence.boundary for level in trace.levels], -1).cpu().numpy(),
        torch.stack([step.boundary for step in islice(future_steps, frames)], 1).cpu().numpy(),
    )


def _level(n: int, parts: list[Observed], batch: Batch) -> dict[str, Any]:
    forecast = np.concatenate([part.forecast[n - 2] for part in parts])
    outcomes = np.concatenate([part.outcomes[n - 2] for part in parts])
    marks = {
        "detected": np.concatenate([part.detected[..., n - 1] for part in parts]),
        "imagined": np.concatenate([part.imagined[..., n - 1] for part in parts]),
    }
    if batch.changes:
        marks["true"] = batch.changes[factor_of(n, batch)]
    measured = {name: event_lengths(each) for name, each in marks.items()}
    return {
        "calibration": calibration(forecast, outcomes)._asdict(),
        "lengths": {name: each._asdict() for name, each in measured.items()},
        "distance": {
            name: earth_movers_distance(measured["imagined"], each)
            for name, each in measured.items()
            if name != "imagined"
        },
    }
