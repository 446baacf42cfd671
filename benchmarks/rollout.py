"""`vpr bench rollout`: a rollout, compared with decoding its states alone."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from benchmarks.models import matching_model
from benchmarks.steps import Step
from benchmarks.timing import Bar, median_seconds
from vpr.config import RunConfig
from vpr.data import evaluation_rng
from vpr.generation.generate import decode, rollout
from vpr.model import VPR

STEPS = 200
SEQUENCES = (1, 16)  # several sequences read the weights from memory once
OBSERVED = 10  # frames before the rollout


def bench_rollout(config: RunConfig, repeats: int, bar: Bar) -> dict[str, Any]:
    """Seconds of a rollout at the top level, and of decoding its states alone."""
    model, weights = matching_model(config)
    candidates: dict[str, Step] = {}
    for count in SEQUENCES:
        candidates |= _rollout_and_decoding(model, config, count)
    timed = median_seconds(candidates, repeats, bar)
    return {
        "preset": config.preset,
        "threads": torch.get_num_threads(),
        "repeats": repeats,
        "weights": weights,
        "steps": STEPS,
        "by_sequences": {str(count): _times(timed, count) for count in SEQUENCES},
    }


@torch.no_grad()
def _rollout_and_decoding(model: VPR, config: RunConfig, count: int) -> dict[str, Step]:
    batch = config.data.batch(count, OBSERVED, evaluation_rng(config.seed))
    state, top = model.observe(torch.from_numpy(batch.frames)).state, model.config.levels
    states = rollout(model, state, top, STEPS).states
    return {
        f"decoding {count}": partial(decode, model, state, top, states),
        f"rollout {count}": partial(rollout, model, state, top, STEPS),
    }


def _times(timed: dict[str, float], count: int) -> dict[str, float]:
    decoding, whole = timed[f"decoding {count}"], timed[f"rollout {count}"]
    return {"decoding_s": decoding, "rollout_s": whole, "rollout_over_decoding": whole / decoding}
