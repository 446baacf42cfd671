"""How old the events of a state are, and those before it: the state itself does not tell."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from vpr.state import Trace

PAST = 16  # ticks that are remembered


class Ages(NamedTuple):
    """Of levels 2 to N, on each level's own clock, which ticks when the level below updates.

    A sequence opens in the middle of its first events: they are older than counted. And a level may
    overlook an event, or see one where there is none; then not the age tells where in a rhythm it
    is, but what came before.
    """

    ticks: Tensor  # (B, N − 1) since the level's last update
    seen: Tensor  # (B, N − 1) was that update a change, or only the sequence's first frame?
    past: Tensor  # (B, N − 1, PAST) the last ticks, latest first: 1 it updated, −1 not, 0 unknown
    dreamt: Tensor  # (B,) was the last frame imagined?

    @classmethod
    def unknown(cls, batch: int, levels: int) -> Ages:
        """Nothing was seen to begin: after a first frame, or when nobody counted."""
        ticks = torch.zeros(batch, levels - 1, dtype=torch.long)
        nowhere = torch.zeros_like(ticks, dtype=torch.bool)
        past = torch.zeros(batch, levels - 1, PAST, dtype=torch.int8)
        return cls(ticks, nowhere, past, nowhere.any(1))

    @classmethod
    def of(cls, trace: Trace, before: Ages | None = None) -> Ages:
        """At the end of a trace; `before` it, if the trace goes on from an earlier one."""
        moved = torch.stack([level.evidence.boundary for level in trace.levels], -1)  # (B, T, N)
        batch, length, levels = moved.shape
        ages = before if before is not None else cls.unknown(batch, levels).to(moved.device)
        opens = (trace.state.time == length).unsqueeze(1)
        for t in range(length):
            ages = ages.after(moved[:, t] & ~opens if t == 0 else moved[:, t])
        return ages

    def after(self, moved: Tensor, dreamt: bool = False) -> Ages:
        """A frame later, seen or `dreamt`, at which the levels `moved` (B, N), level 1 first."""
        below, own = moved[:, :-1], moved[:, 1:]
        ticks = (self.ticks + below).masked_fill(own, 0)
        latest = torch.where(own, 1, -1).to(self.past).unsqueeze(2)
        longer = torch.cat([latest, self.past[..., :-1]], 2)
        past = torch.where(below.unsqueeze(2), longer, self.past)
        return Ages(ticks, self.seen | own, past, torch.full_like(self.dreamt, dreamt))

    def forgotten(self, rows: Tensor) -> Ages:
        """Unknown in the sequences `rows` (B,), a mask."""
        rows = rows.unsqueeze(1)
        past = self.past.masked_fill(rows.unsqueeze(2), 0)
        return Ages(self.ticks.masked_fill(rows, 0), self.seen & ~rows, past, self.dreamt)

    def to(self, device: torch.device) -> Ages:
        return Ages(*(each.to(device) for each in self))
