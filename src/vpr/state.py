"""The data types of the model: its state between frames, and what `observe` and `loss` return."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from vpr.beliefs import Belief
from vpr.block import BlockState, Updates
from vpr.events import Evidence, Window
from vpr.utils.tree import shapes_in_repr


@shapes_in_repr
class State(NamedTuple):
    """The complete state of the model between two frames."""

    blocks: tuple[BlockState, ...]  # level 1 first
    windows: tuple[Window, ...]  # of levels 2 to N: level 1 makes no comparisons
    time: Tensor  # (B,) frames seen


class UpdateIndex:
    """Index from the frames of a batch to the updates of one level, and back.

    K is the largest number of updates in a sequence, at least 1. Sequences with fewer updates are
    padded with other frames, whose results are not used.
    """

    def __init__(self, boundary: Tensor) -> None:  # (B, T)
        count = boundary.cumsum(1)
        self.every_frame = bool(boundary.all())
        # Whether every sequence starts with an update, so that no earlier update is needed.
        self.starts_with_update = bool(boundary[:, 0].all())
        # (B, T) index of the current update
        self.held = count - 1 if self.starts_with_update else count
        order = (~boundary).byte().sort(dim=1, stable=True).indices  # frames with an update first
        self.frames = order[:, : max(int(count[:, -1].max()), 1)]  # (B, K)

    def pick(self, values: Tensor) -> Tensor:
        """Select the frames with an update: (B, T, ...) → (B, K, ...)."""
        return values if self.every_frame else _take(values, self.frames)

    def hold(self, values: Tensor) -> Tensor:
        """Repeat each update until the next one: (B, K, ...) → (B, T, ...).

        Unless `starts_with_update`, `values` must begin with the value from before the video:
        (B, 1 + K, ...).
        """
        return values if self.every_frame else _take(values, self.held)


@shapes_in_repr
class LevelTrace(NamedTuple):
    """One level over time."""

    s: Tensor  # (B, T, S) the current state at each frame
    q: Belief  # (B, T, S) its posterior
    p: Belief  # (B, T, S) its prior
    kl: Tensor  # (B, T) D_KL(q ‖ p) where the level updated, 0 elsewhere
    evidence: Evidence  # (B, T) each
    x: Tensor  # (B, T, H) the projected encoding of each frame, see `Block.project`
    updates: Updates  # (B, K, ...)
    update_index: UpdateIndex  # the current update at each frame


@shapes_in_repr
class Trace(NamedTuple):
    """The result of `VPR.observe`."""

    c0: Tensor  # (B, T, D) the input of the decoder; see `VPR.reconstruct`
    levels: tuple[LevelTrace, ...]  # level 1 first
    state: State  # after the last frame


@shapes_in_repr
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
