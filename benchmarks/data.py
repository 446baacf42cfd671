"""`vpr bench data`: making a training batch, compared with a training step."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.models import matching_model
from benchmarks.steps import training_step
from benchmarks.timing import Bar, median_seconds
from vpr.config import RunConfig
from vpr.training.loop import without_denormals
from vpr.training.session import Session


def bench_data(config: RunConfig, repeats: int, bar: Bar) -> dict[str, Any]:
    """Seconds of making a training batch and of a training step, and their ratio."""
    session, (model, weights) = Session(config), matching_model(config)
    session.model.load_state_dict(model.state_dict())
    with without_denormals(), training_step(session, session.batch()) as step:
        timed = median_seconds({"batch": session.batch, "step": step}, repeats, bar)
    return {
        "preset": config.preset,
        "threads": torch.get_num_threads(),
        "repeats": repeats,
        "weights": weights,
        "batch_s": timed["batch"],
        "step_s": timed["step"],
        "data_share": timed["batch"] / timed["step"],
    }
