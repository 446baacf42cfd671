"""Where training batches come from: fresh sequences, or long ones in parts, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vpr.data import Dataset


class Batches:
    """Batches of a dataset, in the order of its random generator; a checkpoint keeps where it is.

    A long sequence is more than a step can take in, so it may come in parts. Whoever trains on them
    carries the state from one part to the next as long as the sequences are `under_way`.
    """

    def __init__(self, data: Dataset, rng: np.random.Generator) -> None:
        self.data, self.rng = data, rng
        self.rest: list[Tensor] = []  # parts to come
        self.origin: Mapping[str, Any] = {}  # of the generator, before these were drawn
        self.drawn: tuple[int, int, int] = (0, 0, 0)  # sequences, frames of a part, parts

    @property
    def under_way(self) -> bool:
        return bool(self.rest)

    def next(self, count: int, length: int, parts: int = 1) -> Tensor:
        """(count, length, *frame): the part that follows, if there is one, or new sequences."""
        if not self.rest:
            self._draw(count, length, parts)
        return self.rest.pop(0).float()

    def _draw(self, count: int, length: int, parts: int) -> None:
        self.origin, self.drawn = self.rng.bit_generator.state, (count, length, parts)
        if parts == 1:
            frames = torch.from_numpy(self.data.batch(count, length, self.rng).frames)
        else:
            frames = self._long(count, length * parts)
        self.rest = list(torch.split(frames, length, 1))

    def _long(self, count: int, length: int) -> Tensor:  # (count, length, *frame)
        """In half precision, one by one: 24 of 1,600 frames of 64×64 are a gigabyte even so."""
        frames = torch.empty(count, length, *self.data.frame, dtype=torch.float16)
        for row in frames:
            row.copy_(torch.from_numpy(self.data.batch(1, length, self.rng).frames[0]))
        return frames

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps: what is under way is drawn again."""
        if not self.under_way:
            return {"data": self.rng.bit_generator.state}
        return {"data": self.origin, "drawn": self.drawn, "to_come": len(self.rest)}

    def restore(self, state: dict[str, Any]) -> None:
        self.rng.bit_generator.state = state["data"]
        self.rest = []
        if "to_come" in state:
            self._draw(*state["drawn"])
            self.rest = self.rest[-state["to_come"] :]
