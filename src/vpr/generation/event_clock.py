"""The age of the current events, and the recent history of updates.

The state of the model does not contain this information.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from vpr.state import Trace

HISTORY = 16  # ticks in the history


class EventClock(NamedTuple):
    """Ages and history of the events of levels 2 to N.

    Each level has its own clock, which ticks when the level below updates. The first events of a
    sequence began before it, so they are older than counted. A level may also miss an event or
    detect one too many; then the history shows the rhythm of events better than the age does.
    """

    ticks: Tensor  # (B, N − 1) since the last update of the level
    seen: Tensor  # (B, N − 1) whether the beginning of the event was observed
    past: Tensor  # (B, N − 1, HISTORY) the last ticks, latest first: 1 update, −1 none, 0 unknown
    imagined: Tensor  # (B,) whether the last frame was imagined

    @classmethod
    def unknown(cls, batch: int, levels: int) -> EventClock:
        """The clock after a first frame, or for a state of unknown age."""
        ticks = torch.zeros(batch, levels - 1, dtype=torch.long)
        unseen = torch.zeros_like(ticks, dtype=torch.bool)
        past = torch.zeros(batch, levels - 1, HISTORY, dtype=torch.int8)
        return cls(ticks, unseen, past, unseen.any(1))

    @classmethod
    def of(cls, trace: Trace, before: EventClock | None = None) -> EventClock:
        """The clock at the end of a trace; `before` is the clock at its start, if known."""
        moved = torch.stack([level.evidence.boundary for level in trace.levels], -1)  # (B, T, N)
        batch, length, levels = moved.shape
        clock = before if before is not None else cls.unknown(batch, levels).to(moved.device)
        starts = (trace.state.time == length).unsqueeze(1)
        for t in range(length):
            clock = clock.after(moved[:, t] & ~starts if t == 0 else moved[:, t])
        return clock

    def after(self, moved: Tensor, imagined: bool = False) -> EventClock:
        """The clock one frame later, where the levels `moved` (B, N) updated, level 1 first."""
        below, own = moved[:, :-1], moved[:, 1:]
        ticks = (self.ticks + below).masked_fill(own, 0)
        latest = torch.where(own, 1, -1).to(self.past).unsqueeze(2)
        longer = torch.cat([latest, self.past[..., :-1]], 2)
        past = torch.where(below.unsqueeze(2), longer, self.past)
        return EventClock(ticks, self.seen | own, past, torch.full_like(self.imagined, imagined))

    def reset(self, rows: Tensor) -> EventClock:
        """The clock with unknown ages and history in the sequences `rows` (B,), a mask."""
        rows = rows.unsqueeze(1)
        past = self.past.masked_fill(rows.unsqueeze(2), 0)
        return EventClock(self.ticks.masked_fill(rows, 0), self.seen & ~rows, past, self.imagined)

    def to(self, device: torch.device) -> EventClock:
        return EventClock(*(each.to(device) for each in self))
