"""What the model remembers, and what it tells: named tuples of tensors."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from vpr.beliefs import Belief, kl
from vpr.block import BlockState
from vpr.events import Evidence, Window
from vpr.foresight import Led


class State(NamedTuple):
    """All that the model remembers between two frames; the whole memory of a stream."""

    blocks: tuple[BlockState, ...]  # level 1 first
    windows: tuple[Window, ...]  # of levels 2 to N: level 1 compares nothing
    time: Tensor  # (B,) frames seen


class LevelTrace(NamedTuple):
    """One level over time."""

    s: Tensor  # (B, T, S) the state in force at each frame
    q: Belief  # (B, T, S) its posterior
    p: Belief  # (B, T, S) the prior it was predicted with
    kl: Tensor  # (B, T) D_KL(q ‖ p) where the level updated, 0 elsewhere
    evidence: Evidence  # (B, T) each

    def told(self) -> Tensor:  # (B, T)
        """All that a new state tells, foreseen or not: D_KL(q ‖ N(0, 1)); 0 between updates."""
        return torch.where(self.evidence.boundary, kl(self.q, Belief.standard(self.s)), 0.0)


class Trace(NamedTuple):
    """What `observe` returns."""

    c0: Tensor  # (B, T, D) what the decoder paints from; see `VPR.reconstruct`
    levels: tuple[LevelTrace, ...]  # level 1 first
    state: State  # after the last frame


class Loss(NamedTuple):
    """The terms of −ELBO, in nats a frame."""

    total: Tensor  # () weighted as asked
    reconstruction: Tensor  # () −E_q[ln p(o | s)]
    kl: Tensor  # (N,) D_KL at each level
    update_rate: Tensor  # (N,) share of frames at which the level updated
    state: State
    led: Led | None  # where jumps have led, if anybody asked for foresight

    @property
    def elbo(self) -> Tensor:
        return -(self.reconstruction + self.kl.sum())
