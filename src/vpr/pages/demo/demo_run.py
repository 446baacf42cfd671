"""Runs a model on a few new sequences and collects the data of the demo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from vpr.data import Dataset, evaluation_rng, unseen
from vpr.errors import VPRError
from vpr.evaluation import Scores, score
from vpr.model import VPR
from vpr.pages.sequence_data import LevelDecisions, SequenceData, first_sequences
from vpr.utils.checks import check_request


class Demo(NamedTuple):
    dataset: str
    seed: int
    clips: list[SequenceData]

    @property
    def labelled(self) -> bool:
        """Whether the true changes are known."""
        return bool(self.clips[0].changes)

    @property
    def levels(self) -> list[tuple[LevelDecisions, ...]]:
        """Each level in all clips, level 2 first."""
        return list(zip(*(clip.levels for clip in self.clips), strict=True))


def scores_of(levels: Sequence[LevelDecisions]) -> Scores:
    """Scores of one level over several sequences; all 0 without labels."""
    detected, true = (np.zeros((len(levels), len(levels[0].kl_static)), bool) for _ in range(2))
    for i, level in enumerate(levels):
        detected[i, [boundary.frame for boundary in level.boundaries]] = bool(level.factor)
        true[i, list(level.changes)] = True
    return score(detected, true)


@torch.no_grad()
def run_demo(model: VPR, data: Dataset, *, sequences: int = 4, length: int = 50, seed: int) -> Demo:
    """Detect events in sequences that were not used for training, with the means of the states."""
    check_request(model.config, data, sequences, length)
    if model.config.levels < 2:
        raise VPRError(
            "a model with one level detects no events: use a model with 2 or more levels"
        )
    batch = unseen(data).batch(sequences, length, evaluation_rng(seed))
    trace = model.eval().observe(torch.from_numpy(batch.frames).to(model.device, model.dtype))
    return Demo(data.name, seed, first_sequences(model, batch, trace, sequences))
