"""What the model remembers, and what it tells: named tuples of tensors."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from vpr.beliefs import Belief
from vpr.block import BlockState, Path
from vpr.events import Evidence, Window


class State(NamedTuple):
    """All that the model remembers between two frames; the whole memory of a stream."""

    blocks: tuple[BlockState, ...]  # level 1 first
    windows: tuple[Window, ...]  # of levels 2 to N: level 1 compares nothing
    time: Tensor  # (B,) frames seen


class Moments:
    """When the sequences of a batch updated a level, and which update was in force at each frame.

    K is the largest number of updates in a sequence, or 1. Sequences with fewer are filled up with
    other frames; what becomes of those is in force at no frame.
    """

    def __init__(self, boundary: Tensor) -> None:  # (B, T)
        count = boundary.cumsum(1)
        self.everywhere = bool(boundary.all())
        self.opened = bool(boundary[:, 0].all())  # nothing older than the first update is in force
        self.held = count - 1 if self.opened else count
        order = (~boundary).byte().sort(dim=1, stable=True).indices  # updates first, in their order
        self.frames = order[:, : max(int(count[:, -1].max()), 1)]

    def pick(self, values: Tensor) -> Tensor:
        """Of all frames (B, T, ...), those with an update (B, K, ...)."""
        return values if self.everywhere else _take(values, self.frames)

    def hold(self, values: Tensor) -> Tensor:
        """Of updates (B, K, ...), the one in force at each frame (B, T, ...).

        Unless `opened`, what was in force before the video comes first: (B, 1 + K, ...).
        """
        return values if self.everywhere else _take(values, self.held)


class LevelTrace(NamedTuple):
    """One level over time."""

    s: Tensor  # (B, T, S) the state in force at each frame
    q: Belief  # (B, T, S) its posterior
    p: Belief  # (B, T, S) the prior it was predicted with
    kl: Tensor  # (B, T) D_KL(q ‖ p) where the level updated, 0 elsewhere
    evidence: Evidence  # (B, T) each
    x: Tensor  # (B, T, H) what the level reads of each frame
    path: Path  # (B, K, ...) its updates, in their order
    update_index: Moments  # which update was in force at each frame


class Trace(NamedTuple):
    """What `observe` returns."""

    c0: Tensor  # (B, T, D) what the decoder paints from; see `VPR.reconstruct`
    levels: tuple[LevelTrace, ...]  # level 1 first
    state: State  # after the last frame


class Loss(NamedTuple):
    """The terms of −ELBO, in nats per frame."""

    total: Tensor  # () reconstruction + β · Σ kl
    reconstruction: Tensor  # () −E_q[ln p(o | s)]
    kl: Tensor  # (N,) D_KL at each level
    trace: Trace

    @property
    def elbo(self) -> Tensor:
        return -(self.reconstruction + self.kl.sum())

    @property
    def update_rate(self) -> Tensor:
        """(N,) share of frames at which each level updated."""
        updates = [level.evidence.boundary for level in self.trace.levels]
        return torch.stack([update.float().mean() for update in updates])


def _take(values: Tensor, index: Tensor) -> Tensor:
    """values (B, L, ...) at index (B, M) → (B, M, ...)."""
    start = torch.arange(len(values), device=index.device).unsqueeze(1) * values.shape[1]
    taken = values.flatten(0, 1).index_select(0, (index + start).flatten())
    return taken.view(*index.shape, *values.shape[2:])
