"""How the number of events changes with γ: one look at the footage for many thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.errors import VPRError
from vpr.events import Decision, Subjective
from vpr.model import VPR
from vpr.segmenting.segment import Watch, fitted
from vpr.segmenting.segmenter import CHUNK, Pixels, check_watches, surprised, with_rule
from vpr.video import Fit, Frame, Source

STEPS = range(-3, 10)  # thirds of an octave around the model's own γ: from a half of it to 8 times


@dataclass(frozen=True)
class Sweep:
    """The number of events of each level under each γ."""

    source: str
    gammas: tuple[float, ...]
    own: float  # the model's
    frames: int
    seconds: float
    events: dict[int, NDArray[np.int64]]  # level → (gammas,)


@dataclass(frozen=True)
class SideBySide:
    """The model's rule, with another γ for each row of the batch."""

    rule: Subjective  # with γ = 1
    gammas: Tensor  # (B,)
    window: int
    power: float

    def decide(
        self, level: int, time: Tensor, kl_static: Tensor, kl_change: Tensor, usual: Tensor
    ) -> Decision:
        return self.rule.decide(level, time, kl_static, kl_change, self.gammas * usual)


def gammas_around(own: float) -> tuple[float, ...]:
    return tuple(own * 2 ** (step / 3) for step in STEPS)


@torch.inference_mode()
def sweep(
    source: Source,
    model: VPR,
    fit: Fit,
    gammas: Sequence[float] | None = None,
    watch: Watch | None = None,
) -> Sweep:
    """Each γ decides for itself what the levels see from then on; the frames are encoded once."""
    check_watches(model)
    rule = surprised(model)
    gammas = tuple(gammas if gammas is not None else gammas_around(rule.gamma))
    each = model.usual.new_tensor(gammas)
    rows = SideBySide(replace(rule, gamma=1.0), each, rule.window, rule.power)
    model, pixels = with_rule(model, rows), Pixels(model)
    state = model.initial(len(gammas))
    counted = torch.zeros(model.config.levels, len(gammas), dtype=torch.long)
    frames, first, last, done = iter(source), None, None, 0
    while chunk := [_seen(frame, fit) for frame in islice(frames, CHUNK)]:
        x = model.encodings(pixels([picture for picture, _ in chunk]).unsqueeze(0))
        state, evidence = model.decide(state, [_for_each(read, len(gammas)) for read in x], None)
        counted += torch.stack([level.boundary.sum(1).cpu() for level in evidence])
        first, last = first if done else chunk[0][1], chunk[-1][1]
        done += len(chunk)
        if watch is not None:
            watch(done, source.expected)
    if first is None or last is None:
        raise VPRError(f"{source.name} has no frames")
    counted -= 1  # the first frame opens every level's first event: that is no boundary
    events = {level: counted[level - 1].numpy() for level in range(2, model.config.levels + 1)}
    return Sweep(source.name, gammas, rule.gamma, done, last - first, events)


def _seen(frame: Frame, fit: Fit) -> tuple[NDArray[np.uint8], float]:
    """Of a frame what is needed; what it was made from is large."""
    return fitted(frame.picture, fit), float(frame.time)


def _for_each(read: Tensor, count: int) -> Tensor:
    return read.expand(count, -1, -1)
