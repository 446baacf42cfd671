"""Watch fresh sequences, a few at a time, and keep what the report counts and shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.boundaries import Boundary
from vpr.data import Batch, Dataset
from vpr.demo.run import Curve, boundaries_of
from vpr.evaluation.scores import Marks
from vpr.model import VPR
from vpr.state import LevelTrace, Trace

CHUNK = 32  # sequences at once: bounds the memory
SHOWN = 2  # sequences on the page


class Seen(NamedTuple):
    """One level over all sequences, (B, T) each; NaN where the signal did not arrive."""

    mean: NDArray[np.float32]  # (B, T, S) of the posterior in force
    kl: NDArray[np.float32]
    kl_static: NDArray[np.float32]
    kl_change: NDArray[np.float32]
    threshold: NDArray[np.float32]
    expected: Marks
    unexpected: Marks
    boundary: Marks


class Decisions(NamedTuple):
    """What one level decided in one sequence, and why."""

    level: int
    boundaries: tuple[Boundary, ...]
    kl_static: Curve
    kl_change: Curve
    threshold: Curve


class Clip(NamedTuple):
    """A sequence to be shown."""

    frames: NDArray[np.float32]  # (T, *frame)
    painted: NDArray[np.float32]  # (T, *frame) reconstructions
    levels: tuple[Decisions, ...]  # level 2 first


class Watched(NamedTuple):
    levels: tuple[Seen, ...]  # level 1 first
    factors: dict[str, NDArray[Any]]  # name → (B, T, ...); empty where nothing is labelled
    changes: dict[str, Marks]  # name → (B, T)
    clips: tuple[Clip, ...]  # the first sequences


@torch.no_grad()
def watch_sequences(
    model: VPR,
    data: Dataset,
    sequences: int,
    length: int,
    rng: np.random.Generator,
    watch: Callable[[int], None] | None,
) -> Watched:
    seen: list[tuple[Seen, ...]] = []
    labels: list[Batch] = []
    clips: list[Clip] = []
    for start in range(0, sequences, CHUNK):
        batch = data.batch(min(CHUNK, sequences - start), length, rng)
        trace = model.observe(torch.from_numpy(batch.frames).to(model.device, model.dtype))
        seen.append(tuple(_seen(level) for level in trace.levels))
        labels.append(batch._replace(frames=batch.frames[:0]))
        if not clips:
            clips = _clips(model, batch, trace)
        if watch is not None:
            watch(start + len(batch.frames))
    return Watched(
        levels=tuple(
            Seen._make(map(np.concatenate, zip(*level, strict=True)))
            for level in zip(*seen, strict=True)
        ),
        factors=_joined([batch.factors for batch in labels]),
        changes=_joined([batch.changes for batch in labels]),
        clips=tuple(clips),
    )


def _seen(level: LevelTrace) -> Seen:
    seen = level.evidence
    numbers = (level.q.mean, level.kl, seen.kl_static, seen.kl_change, seen.threshold)
    marks = (seen.expected, seen.unexpected, seen.boundary)
    return Seen._make([*map(_array, numbers), *(each.cpu().numpy() for each in marks)])


def _clips(model: VPR, batch: Batch, trace: Trace) -> list[Clip]:
    painted = _array(model.reconstruct(trace.c0[:SHOWN]).clamp(0, 1))
    return [Clip(batch.frames[i], painted[i], _decisions(trace, i)) for i in range(len(painted))]


def _decisions(trace: Trace, i: int) -> tuple[Decisions, ...]:
    found = boundaries_of(trace, i)
    levels = []
    for n, level in enumerate(trace.levels[1:], start=2):
        seen = level.evidence
        curves = (
            v[i].double().cpu().numpy() for v in (seen.kl_static, seen.kl_change, seen.threshold)
        )
        levels.append(Decisions(n, tuple(b for b in found if b.level == n), *curves))
    return tuple(levels)


def _joined(parts: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _array(values: Tensor) -> NDArray[np.float32]:
    return values.float().cpu().numpy()
