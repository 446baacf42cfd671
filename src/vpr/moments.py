"""From frames to the moments at which a level updated, and back."""

from __future__ import annotations

import torch
from torch import Tensor


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


def _take(values: Tensor, index: Tensor) -> Tensor:
    """values (B, L, ...) at index (B, M) → (B, M, ...)."""
    start = torch.arange(len(values), device=index.device).unsqueeze(1) * values.shape[1]
    taken = values.flatten(0, 1).index_select(0, (index + start).flatten())
    return taken.view(*index.shape, *values.shape[2:])
