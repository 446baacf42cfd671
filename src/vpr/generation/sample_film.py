"""Samples of each level next to frames of other sequences: figure 6 of the paper."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from vpr.data import Dataset, evaluation_rng, unseen
from vpr.generation.film import Film, Strip, observe_frames
from vpr.generation.generate import sample
from vpr.model import VPR
from vpr.utils.checks import check_count, check_level, check_request


def sample_film(
    model: VPR,
    data: Dataset,
    levels: Sequence[int],
    *,
    n: int = 12,
    frames: int = 30,
    seed: int = 1,
    empty: bool = True,
) -> Film:
    """Observe `frames` frames of a new sequence, then sample each level `n` times.

    The true row has the last observed frame and frames of `n` other sequences.
    """
    check_request(model.config, data, 1, frames)
    check_count("n", n)
    for level in levels:
        check_level(level, model.config)
    batch = unseen(data).batch(1 + n, frames, evaluation_rng(seed))
    observation = observe_frames(model, batch.frames[0])
    strips, level_facts = [Strip("GT", batch.frames[:, -1])], []
    for level in levels:
        generator = torch.Generator().manual_seed(seed)
        draws = sample(model, observation.state, level, n, generator, empty=empty)
        strips.append(observation.strip(level, draws.frames))
        level_facts.append({"level": level, "std": float(draws.belief.std.mean())})
    facts = {"data": data.name, "seed": seed, "frames": frames, "n": n, "empty": empty}
    return Film((tuple(strips),), facts | {"levels": level_facts})
