"""`vpr bench data`: what making a batch costs beside learning from it."""

from __future__ import annotations

from typing import Any

import torch

from vpr.bench.steps import training_step
from vpr.bench.timing import Bar, alternating
from vpr.bench.weights import fitting_model
from vpr.config import RunConfig
from vpr.training.loop import without_denormals
from vpr.training.session import Session


def bench_data(config: RunConfig, repeats: int, bar: Bar) -> dict[str, Any]:
    """Seconds to make a training batch and to make a step, and the ratio of the two."""
    session, (model, weights) = Session(config), fitting_model(config)
    session.model.load_state_dict(model.state_dict())
    with without_denormals(), training_step(session, session.batch()) as step:
        timed = alternating({"batch": session.batch, "step": step}, repeats, bar)
    return {
        "preset": config.preset,
        "threads": torch.get_num_threads(),
        "repeats": repeats,
        "weights": weights,
        "batch_s": timed["batch"],
        "step_s": timed["step"],
        "data_share": timed["batch"] / timed["step"],
    }
