"""Watch a few fresh sequences and keep all that there is to show of them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from vpr.boundaries import Boundary, batch_boundaries
from vpr.data import Batch, Dataset, evaluation_rng, factor_of, unseen
from vpr.errors import VPRError
from vpr.evaluation import Scores, check_request, score
from vpr.events import Evidence
from vpr.model import VPR
from vpr.state import LevelTrace, Trace

Curve = NDArray[np.float64]  # (T,)


class Outcome(NamedTuple):
    """Frames, in order: a detection counts as found at the very frame of a true change."""

    found: tuple[int, ...]
    missed: tuple[int, ...]
    false: tuple[int, ...]


class Decided(Protocol):
    """What one level, 2 or higher, decided in one sequence, and why."""

    @property
    def level(self) -> int: ...

    @property
    def boundaries(self) -> tuple[Boundary, ...]: ...

    @property
    def kl_static(self) -> Curve: ...

    @property
    def kl_change(self) -> Curve: ...

    @property
    def threshold(self) -> Curve: ...


class Detections(NamedTuple):
    """What one level made of one sequence. NaN where the signal did not arrive."""

    level: int  # 2 or higher
    factor: str  # whose changes are the events that this level should find; "": nobody knows
    boundaries: tuple[Boundary, ...]  # after the first frame, which opens every level
    kl_static: Curve  # D_st
    kl_change: Curve  # D_ch
    threshold: Curve  # γ · mean(D_st)
    outcome: Outcome  # nothing, where nobody knows
    scores: Scores


class Clip(NamedTuple):
    """One sequence: what was shown, what is true of it, what the model made of it."""

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
        """Does anybody know the true changes?"""
        return bool(self.clips[0].changes)


@torch.no_grad()
def run_demo(model: VPR, data: Dataset, *, sequences: int = 4, length: int = 50, seed: int) -> Demo:
    """Sequences that no training run has seen; detection uses the means of the states."""
    check_request(model, data, sequences, length)
    if model.config.levels < 2:
        raise VPRError("a model with one level detects no events: show one with 2 or more")
    batch = unseen(data).batch(sequences, length, evaluation_rng(seed))
    trace = model.eval().observe(torch.from_numpy(batch.frames).to(model.device, model.dtype))
    painted = model.reconstruct(trace.c0).clamp(0, 1).float().cpu().numpy()
    return Demo(
        dataset=data.name,
        seed=seed,
        clips=tuple(_clip(batch, trace, painted, i) for i in range(sequences)),
        pooled=tuple(
            _score(level.evidence.boundary.cpu().numpy(), batch, n)
            for n, level in enumerate(trace.levels[1:], start=2)
        ),
    )


def _clip(batch: Batch, trace: Trace, painted: NDArray[np.float32], i: int) -> Clip:
    detected = boundaries_of(trace, i)
    return Clip(
        frames=batch.frames[i],
        reconstructions=painted[i],
        factors={name: values[i] for name, values in batch.factors.items()},
        changes={name: changed[i] for name, changed in batch.changes.items()},
        levels=tuple(
            _detections(n, level, [b for b in detected if b.level == n], batch, i)
            for n, level in enumerate(trace.levels[1:], start=2)
        ),
    )


def boundaries_of(trace: Trace, i: int) -> list[Boundary]:
    """Of all levels of sequence i."""
    found: list[Boundary] = []
    for t in range(1, trace.c0.shape[1]):
        now = [Evidence(*(v[:, t] for v in level.evidence)) for level in trace.levels]
        found += batch_boundaries(now, i, t)
    return found


def _detections(
    n: int, level: LevelTrace, detected: list[Boundary], batch: Batch, i: int
) -> Detections:
    factor = factor_of(n, batch) if batch.changes else ""
    seen = level.evidence
    st, ch, threshold = (
        v[i].double().cpu().numpy() for v in (seen.kl_static, seen.kl_change, seen.threshold)
    )
    marks = np.zeros(st.shape, dtype=bool)
    marks[[b.frame for b in detected]] = True
    outcome = _outcome(marks, batch.changes[factor][i]) if factor else Outcome((), (), ())
    one = batch._replace(changes={name: true[i : i + 1] for name, true in batch.changes.items()})
    scores = _score(marks[None], one, n)
    return Detections(n, factor, tuple(detected), st, ch, threshold, outcome, scores)


def _outcome(marks: NDArray[np.bool_], true: NDArray[np.bool_]) -> Outcome:
    return Outcome(frames_of(marks & true), frames_of(true & ~marks), frames_of(marks & ~true))


def _score(marks: NDArray[np.bool_], batch: Batch, level: int) -> Scores:
    """Marks (B, T) against the factor of their level; zeros where nobody knows."""
    if not batch.changes:
        return Scores(0.0, 0.0, 0.0, 0.0)
    return score(marks, batch.changes[factor_of(level, batch)])


def frames_of(marks: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.flatnonzero(marks).tolist())
