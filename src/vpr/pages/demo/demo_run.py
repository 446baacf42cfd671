"""Runs a model on a few new sequences and collects the data of the demo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from vpr.data import Batch, Dataset, evaluation_rng, factor_of, unseen
from vpr.errors import VPRError
from vpr.evaluation import Scores, score
from vpr.model import VPR
from vpr.pages.level_decisions import LevelDecisions, frames_of, level_decisions
from vpr.state import Trace
from vpr.utils.checks import check_request


class Outcome(NamedTuple):
    """Frames of events and true changes; found only if both are at the same frame."""

    found: tuple[int, ...]
    missed: tuple[int, ...]
    false: tuple[int, ...]


@dataclass(frozen=True)
class Detections(LevelDecisions):
    """The decisions of one level in one sequence, compared with the labels."""

    factor: str  # whose changes this level should find; "" without labels
    outcome: Outcome  # empty without labels
    scores: Scores


class Clip(NamedTuple):
    """One sequence with its labels, reconstructions and detections."""

    frames: NDArray[np.float32]  # (T, *frame)
    reconstructions: NDArray[np.float32]  # (T, *frame)
    factors: dict[str, NDArray[Any]]  # name → (T, ...), fastest first
    changes: dict[str, NDArray[np.bool_]]  # name → (T,), True where the factor just changed
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
    decoded = model.reconstruct(trace.c0).clamp(0, 1).float().cpu().numpy()
    return Demo(
        dataset=data.name,
        seed=seed,
        clips=tuple(_clip(batch, trace, decoded, i) for i in range(sequences)),
        pooled=tuple(
            _score(level.evidence.boundary.cpu().numpy(), batch, n)
            for n, level in enumerate(trace.levels[1:], start=2)
        ),
    )


def _clip(batch: Batch, trace: Trace, decoded: NDArray[np.float32], i: int) -> Clip:
    return Clip(
        frames=batch.frames[i],
        reconstructions=decoded[i],
        factors={name: values[i] for name, values in batch.factors.items()},
        changes={name: changed[i] for name, changed in batch.changes.items()},
        levels=tuple(_detections(level, batch, i) for level in level_decisions(trace, i)),
    )


def _detections(found: LevelDecisions, batch: Batch, i: int) -> Detections:
    factor = factor_of(found.level, batch) if batch.changes else ""
    marks = np.zeros(found.kl_static.shape, dtype=bool)
    marks[[b.frame for b in found.boundaries]] = True
    outcome = _outcome(marks, batch.changes[factor][i]) if factor else Outcome((), (), ())
    one = batch._replace(changes={name: true[i : i + 1] for name, true in batch.changes.items()})
    scores = _score(marks[None], one, found.level)
    return Detections(**vars(found), factor=factor, outcome=outcome, scores=scores)


def _outcome(marks: NDArray[np.bool_], true: NDArray[np.bool_]) -> Outcome:
    return Outcome(frames_of(marks & true), frames_of(true & ~marks), frames_of(marks & ~true))


def _score(marks: NDArray[np.bool_], batch: Batch, level: int) -> Scores:
    """Scores of marks (B, T) against the factor of their level; zeros without labels."""
    if not batch.changes:
        return Scores(0.0, 0.0, 0.0, 0.0)
    return score(marks, batch.changes[factor_of(level, batch)])
