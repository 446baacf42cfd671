"""What a level was over time: an entry for each update, not for each frame."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from vpr.block import BlockState
from vpr.tree import tree_map, tree_put


class Update(NamedTuple):
    """Some sequences of a batch moved on."""

    rows: Tensor  # (R,) which
    new: BlockState  # (R, ...) to what


class History:
    """The entries of one level, and which of them each sequence held at each frame.

    What depends on an entry alone, such as its prior, is then computed once for each entry. The
    first B entries are what the level was before the first frame.
    """

    def __init__(self, before: BlockState) -> None:
        self.entries = [before]
        self.held = [torch.arange(len(before.s), device=before.s.device)]
        self.count = len(before.s)

    def push(self, update: Update | None) -> None:
        """A frame, and the update that it brought, if it did."""
        held = self.held[-1]
        if update is not None:
            fresh = torch.arange(len(update.rows), device=held.device) + self.count
            held = tree_put(held, update.rows, fresh)
            self.entries.append(update.new)
            self.count += len(update.rows)
        self.held.append(held)

    def states(self) -> BlockState:
        """All entries (E, ...), one below the other."""
        return tree_map(lambda *parts: torch.cat(parts), *self.entries)

    def at_frames(self, values: Tensor) -> Tensor:
        """Values (E, ...) of the entries → (B, T, ...), what each sequence held at each frame."""
        held = torch.stack(self.held[1:], 1)
        return values.index_select(0, held.flatten()).view(*held.shape, *values.shape[1:])
