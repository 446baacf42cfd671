"""Runs a model on a few new sequences and collects the data of the demo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from vpr.data import Batch, Dataset, evaluation_rng, factor_of, unseen
from vpr.errors import VPRError
from vpr.evaluation import Scores, score
from vpr.model import VPR
from vpr.pages.sequence_data import LevelDecisions, SequenceData, first_sequences, frames_of
from vpr.utils.checks import check_request

NO_SCORES = Scores(0.0, 0.0, 0.0, 0.0, 0.0)  # without labels


class Outcome(NamedTuple):
    """Frames of events and true changes; found only if both are at the same frame."""

    found: tuple[int, ...]
    missed: tuple[int, ...]
    false: tuple[int, ...]


@dataclass(frozen=True)
class Detections(LevelDecisions):
    """The decisions of one level in one sequence, compared with the labels."""

    outcome: Outcome  # empty without labels
    scores: Scores


@dataclass(frozen=True)
class Clip(SequenceData):
    """One sequence, whose decisions are compared with the labels."""

    levels: tuple[Detections, ...]  # level 2 first


class Demo(NamedTuple):
    dataset: str
    seed: int
    clips: tuple[Clip, ...]
    pooled: tuple[Scores, ...]  # level 2 first, over all clips

    @property
    def labelled(self) -> bool:
        """Whether the true changes are known."""
        return bool(self.clips[0].changes)


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
    return Demo(
        dataset=data.name,
        seed=seed,
        clips=tuple(map(_clip, first_sequences(model, batch, trace, sequences))),
        pooled=tuple(
            _score(level.evidence.boundary.cpu().numpy(), batch, n)
            for n, level in enumerate(trace.levels[1:], start=2)
        ),
    )


def _clip(sequence: SequenceData) -> Clip:
    judged = tuple(_detections(level, sequence) for level in sequence.levels)
    return Clip(**vars(sequence) | {"levels": judged})


def _detections(found: LevelDecisions, sequence: SequenceData) -> Detections:
    if not found.factor:
        return Detections(**vars(found), outcome=Outcome((), (), ()), scores=NO_SCORES)
    true = sequence.changes[found.factor]
    marks = np.zeros_like(true)
    marks[[b.frame for b in found.boundaries]] = True
    scores = score(marks[None], true[None])
    return Detections(**vars(found), outcome=_outcome(marks, true), scores=scores)


def _outcome(marks: NDArray[np.bool_], true: NDArray[np.bool_]) -> Outcome:
    return Outcome(frames_of(marks & true), frames_of(true & ~marks), frames_of(marks & ~true))


def _score(marks: NDArray[np.bool_], batch: Batch, level: int) -> Scores:
    """Scores of marks (B, T) against the factor of their level; zeros without labels."""
    if not batch.changes:
        return NO_SCORES
    return score(marks, batch.changes[factor_of(level, batch)])
