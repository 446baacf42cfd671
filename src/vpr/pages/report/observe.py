"""Runs a model on new sequences, in batches, and collects the data of the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from vpr.data import Batch, Dataset
from vpr.errors import VPRError
from vpr.evaluation.factor_readers import concatenate
from vpr.evaluation.scores import Marks
from vpr.model import VPR
from vpr.pages.sequence_data import SequenceData, first_sequences
from vpr.state import LevelTrace

CHUNK = 32  # sequences per batch, to bound the memory
SHOWN_SEQUENCES = 2  # sequences on the page


class LevelObservations(NamedTuple):
    """One level over all sequences, (B, T) each; NaN where it was not evaluated.

    After `kl`, the fields are those of `Evidence`.
    """

    mean: NDArray[np.float32]  # (B, T, S) of the current posterior
    kl: NDArray[np.float32]
    kl_static: NDArray[np.float32]
    kl_change: NDArray[np.float32]
    threshold: NDArray[np.float32]
    expected: Marks
    unexpected: Marks
    boundary: Marks


class Observations(NamedTuple):
    levels: tuple[LevelObservations, ...]  # level 1 first
    factors: dict[str, NDArray[Any]]  # name → (B, T, ...); empty without labels
    changes: dict[str, Marks]  # name → (B, T)
    shown: tuple[SequenceData, ...]  # the first sequences


@torch.no_grad()
def observe_sequences(
    model: VPR,
    data: Dataset,
    sequences: int,
    length: int,
    rng: np.random.Generator,
    on_progress: Callable[[int], None] | None,
) -> Observations:
    observed: list[tuple[LevelObservations, ...]] = []
    labels: list[Batch] = []
    shown: list[SequenceData] = []
    for start in range(0, sequences, CHUNK):
        batch = data.batch(min(CHUNK, sequences - start), length, rng)
        trace = model.observe(torch.from_numpy(batch.frames).to(model.device, model.dtype))
        if not all(bool(level.q.mean.isfinite().all()) for level in trace.levels):
            raise VPRError("the states of the model are NaN or infinite: train it again")
        observed.append(tuple(_observations(level) for level in trace.levels))
        labels.append(batch._replace(frames=batch.frames[:0]))
        if not shown:
            shown = first_sequences(model, batch, trace, SHOWN_SEQUENCES)
        if on_progress is not None:
            on_progress(start + len(batch.frames))
    return Observations(
        levels=tuple(
            LevelObservations._make(map(np.concatenate, zip(*level, strict=True)))
            for level in zip(*observed, strict=True)
        ),
        factors=concatenate([batch.factors for batch in labels]),
        changes=concatenate([batch.changes for batch in labels]),
        shown=tuple(shown),
    )


def _observations(level: LevelTrace) -> LevelObservations:
    values = (level.q.mean, level.kl, *level.evidence)
    return LevelObservations._make(
        (each if each.dtype == torch.bool else each.float()).cpu().numpy() for each in values
    )
