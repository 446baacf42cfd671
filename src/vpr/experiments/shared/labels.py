"""The true events of each level, against which its boundaries are scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vpr.data import Batch, Dataset, NestedWorld, factor_of
from vpr.data.nested_world import level_changes


@dataclass(frozen=True)
class LabelledWorld:
    """A nested world whose `changes` also have the true events of each level, "level 2", …"""

    name: ClassVar[str] = NestedWorld.name
    world: NestedWorld

    @property
    def frame(self) -> tuple[int, ...]:
        return self.world.frame

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch:
        batch = self.world.batch(count, length, rng)
        truth = {events_name(level): marks for level, marks in level_changes(batch).items()}
        return batch._replace(changes=batch.changes | truth)


def labelled(data: Dataset) -> Dataset:
    """The dataset itself, or a nested world with the true events of its levels."""
    return LabelledWorld(data) if isinstance(data, NestedWorld) else data


def events_name(level: int) -> str:
    """Name of the true events of a level of a nested world."""
    return f"level {level}"


def true_events(level: int, batch: Batch) -> NDArray[np.bool_]:  # (B, T)
    """The true events of a level of a nested world, else the changes of the level's factor."""
    name = events_name(level)
    return batch.changes[name if name in batch.changes else factor_of(level, batch)]
