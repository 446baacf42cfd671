"""What demo and report show of one sequence: frames, labels, and the decisions of each level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from vpr.data import Batch, factor_of
from vpr.events import Boundary, Evidence, LevelEvidence, boundaries
from vpr.model import VPR
from vpr.state import Trace

Curve = NDArray[np.float64]  # (T,), NaN where the level was not evaluated


class Outcome(NamedTuple):
    """Frames of events and true changes; found only if both are at the same frame."""

    found: tuple[int, ...]
    missed: tuple[int, ...]
    false: tuple[int, ...]


@dataclass(frozen=True)
class LevelDecisions:
    """The decisions of one level in one sequence, the values compared, and the true changes."""

    level: int  # 2 or higher
    factor: str  # whose changes this level should follow; "" without labels
    changes: tuple[int, ...]  # frames at which the factor changes; empty without labels
    boundaries: tuple[Boundary, ...]  # without the first frame, at which every level updates
    kl_static: Curve  # D_st
    kl_change: Curve  # D_ch
    threshold: Curve  # γ · mean(D_st)

    @property
    def outcome(self) -> Outcome:
        """Empty without labels."""
        if not self.factor:
            return Outcome((), (), ())
        events, true = {boundary.frame for boundary in self.boundaries}, set(self.changes)
        parts = (events & true, true - events, events - true)
        return Outcome(*(tuple(sorted(part)) for part in parts))


@dataclass(frozen=True)
class SequenceData:
    """One sequence with its labels, reconstruction and decisions."""

    frames: NDArray[np.float32]  # (T, *frame)
    reconstruction: NDArray[np.float32]  # (T, *frame)
    factors: dict[str, NDArray[Any]]  # name → (T, ...), fastest first
    changes: dict[str, NDArray[np.bool_]]  # name → (T,), True where the factor just changed
    levels: tuple[LevelDecisions, ...]  # level 2 first


@torch.no_grad()
def first_sequences(model: VPR, batch: Batch, trace: Trace, count: int) -> list[SequenceData]:
    """The first sequences of a batch that was observed."""
    decoded = model.reconstruct(trace.c0[:count]).clamp(0, 1).float().cpu().numpy()
    return [
        SequenceData(
            frames=batch.frames[i],
            reconstruction=reconstruction,
            factors={name: values[i] for name, values in batch.factors.items()},
            changes={name: changed[i] for name, changed in batch.changes.items()},
            levels=_decisions(batch, trace, i),
        )
        for i, reconstruction in enumerate(decoded)
    ]


def _decisions(batch: Batch, trace: Trace, i: int) -> tuple[LevelDecisions, ...]:
    """The decisions of levels 2 to N in sequence i."""
    found = boundaries_of(trace, i)
    levels = []
    for n, level in enumerate(trace.levels[1:], start=2):
        factor = factor_of(n, batch) if batch.changes else ""
        changes = frames_of(batch.changes[factor][i]) if factor else ()
        own = tuple(boundary for boundary in found if boundary.level == n)
        compared = (level.evidence.kl_static, level.evidence.kl_change, level.evidence.threshold)
        curves = (values[i].double().cpu().numpy() for values in compared)
        levels.append(LevelDecisions(n, factor, changes, own, *curves))
    return tuple(levels)


def boundaries_of(trace: Trace, i: int) -> list[Boundary]:
    """The boundaries of all levels in sequence i, without the first frame."""
    of_sequence = (Evidence(*(values[i] for values in level.evidence)) for level in trace.levels)
    frames = zip(*map(LevelEvidence.rows, of_sequence), strict=True)
    return [boundary for t, levels in enumerate(frames) if t for boundary in boundaries(levels, t)]


def frames_of(marks: NDArray[np.bool_]) -> tuple[int, ...]:
    """The frames (T,) that are marked."""
    return tuple(np.flatnonzero(marks).tolist())
