"""Rollouts of each level next to the true events: figure 5 of the paper."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from vpr.data import Batch, Dataset, evaluation_rng, factor_of, unseen
from vpr.errors import VPRError
from vpr.generation.film import Film, Strip, observe_frames
from vpr.generation.generate import Below, rollout
from vpr.model import VPR
from vpr.utils.checks import check_count, check_level, check_request

MAX_LENGTH_FACTOR = 16  # maximum length of a sequence, in multiples of `frames + steps`


def rollout_film(
    model: VPR,
    data: Dataset,
    levels: Sequence[int],
    *,
    steps: int = 12,
    frames: int = 30,
    seed: int = 1,
    samples: bool = False,
    below: Below = "held",
) -> Film:
    """Observe `frames` frames of a new sequence, then predict `steps` events of each level."""
    check_request(model.config, data, 1, frames)
    check_count("steps", steps)
    for level in levels:
        check_level(level, model.config)
    batch = _sequence_with_events(unseen(data), levels, frames, steps, seed)
    observation = observe_frames(model, batch.frames[0, :frames])
    groups, level_facts = [], []
    for level in levels:
        rolled_out = rollout(
            model,
            observation.state,
            level,
            steps,
            samples=samples,
            generator=torch.Generator().manual_seed(seed),
            below=below,
        )
        events = true_events(batch, level, frames, steps)
        truth = Strip("GT", batch.frames[0, [frames - 1, *events]])
        groups.append((truth, observation.strip(level, rolled_out.frames)))
        factor = factor_of(level, batch) if batch.changes else None
        spread = float(rolled_out.beliefs.std.mean())
        level_facts.append({"level": level, "factor": factor, "events": events, "std": spread})
    facts = {"data": data.name, "seed": seed, "frames": frames, "steps": steps}
    return Film(tuple(groups), facts | {"samples": samples, "below": below, "levels": level_facts})


def true_events(batch: Batch, level: int, first: int, count: int) -> list[int]:
    """The next frames of the first sequence, from `first` on, at which a level should update.

    These are the changes of its factor; for level 1 or without labels, all frames.
    """
    frames = range(first, batch.frames.shape[1])
    if level > 1 and batch.changes:
        changed = batch.changes[factor_of(level, batch)][0]
        return [t for t in frames if changed[t]][:count]
    return list(frames[:count])


def _sequence_with_events(
    data: Dataset, levels: Sequence[int], frames: int, steps: int, seed: int
) -> Batch:
    """A sequence with `steps` events of each level after its first `frames` frames, if possible."""
    length = shortest = frames + steps
    batch = data.batch(1, length, evaluation_rng(seed))
    while length < MAX_LENGTH_FACTOR * shortest:
        if all(len(true_events(batch, level, frames, steps)) == steps for level in levels):
            break
        length *= 2
        try:
            batch = data.batch(1, length, evaluation_rng(seed))
        except VPRError:  # a recording has an end
            break
    return batch
