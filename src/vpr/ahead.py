"""Algorithm 1 for one video whose next frames are there already.

What level 2 believes changes only when it updates. Until then no comparison waits for the one
before it, so several frames are compared at once; what lies beyond an update is compared again.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from vpr.boundaries import Sight
from vpr.events import Window
from vpr.live import Live
from vpr.model import VPR, LazyEncodings, Nets

AHEAD = 8  # frames compared at once: more rows take longer, and an update makes them worthless


class Ahead(Live):
    """`Live` from its first frame on, without level 1, which decides nothing."""

    def __init__(self, model: VPR) -> None:
        super().__init__(model, model.initial(1), lowest=2)
        self._recent = Recent(self.windows[0], self.rule.power)
        (self._one,) = Sight.each(self._level_one)

    def look(self, x0: Tensor) -> list[list[Sight]]:
        """The next frames (K, D); for each what levels 1, 2, … saw, as far as the signal went."""
        reads = Reads.of(self.nets, x0)
        told: list[list[Sight]] = []
        if self.time == 0:
            self.advance(reads.at(0))
            told.append([self._one])
        while len(told) < len(x0):
            told += self._until_update(reads, len(told))
        return told

    def _until_update(self, reads: Reads, start: int) -> list[list[Sight]]:
        """Frames from `start` on, as far as was compared or to an update, that one included."""
        second = self._compare(reads.read[start : start + AHEAD])
        quiet = next((i for i, seen in enumerate(second) if seen.boundary), len(second))
        told = [[self._one, seen] for seen in second[: quiet + 1]]
        self._recent.push(len(told))
        self.time += quiet
        if quiet < len(second):
            x = reads.at(start + quiet)
            above, updating = self._ask_from(2, x)
            told[-1] += (seen for evidence in above for seen in Sight.each(evidence))
            self._infer(x, updating)
            self.time += 1
        return told

    def _compare(self, x: Tensor) -> list[Sight]:
        """What level 2 says to the next frames (R, H) if it does not update before."""
        kl_static, kl_change = self.nets[1].compare(self.blocks[1], x)
        usual = self._recent.means(kl_static)
        time = torch.arange(self.time, self.time + len(x), device=x.device)
        decision = self.rule.decide(2, time, kl_static, kl_change, usual)
        return Sight.each(decision.evidence(kl_static, kl_change))


class Reads(NamedTuple):
    """What levels 1 and 2, which are asked at every frame, read of a chunk."""

    nets: Nets
    x: tuple[Tensor, ...]  # x⁰, x¹, x² (K, D)
    read: Tensor  # (K, H) by level 2

    @classmethod
    def of(cls, nets: Nets, x0: Tensor) -> Reads:
        x1 = nets[0].f_enc(x0)
        x2 = nets[1].f_enc(x1)
        return cls(nets, (x0, x1, x2), nets[1].read(x2))

    def at(self, place: int) -> LazyEncodings:
        """Of one frame."""
        row = slice(place, place + 1)
        return LazyEncodings(self.nets, [x[row] for x in self.x], {1: self.read[row]})


class Recent:
    """A `Window` of one sequence, oldest value first, that tells what would be usual later on."""

    def __init__(self, window: Window, power: float) -> None:
        self.power, self.pushed = power, int(window.pushed[0])
        self._powers = self._powered(window.values[0].roll(-self.pushed))  # (τ_w,)
        self._ahead = self._powers

    def means(self, values: Tensor) -> Tensor:
        """`Window.mean` before each of the values (R,) that may come next."""
        size = len(self._powers)
        self._ahead = torch.cat([self._powers, self._powered(values)])
        sums = self._ahead.unfold(0, size, 1)[:-1].sum(1)
        if self.pushed >= size:
            return (sums / size).pow(1 / self.power)
        filled = torch.arange(self.pushed, self.pushed + len(values)).clamp_(max=size).to(sums)
        return torch.where(filled > 0, (sums / filled).pow(1 / self.power), torch.inf)

    def push(self, count: int) -> None:
        """So many of these values did come."""
        self._powers = self._ahead[count : count + len(self._powers)]
        self.pushed += count

    def _powered(self, values: Tensor) -> Tensor:
        return values.clamp(min=0).pow(self.power)
