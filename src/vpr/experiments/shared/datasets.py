"""Datasets with a known hierarchy: their runs, and the events that each level should detect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vpr.config import Data, RunConfig
from vpr.data import Batch, Dataset, NestedWorld, factor_of
from vpr.data.nested_world import level_changes
from vpr.experiments.runner.experiment import Results, Scale
from vpr.experiments.runner.settings import run_config
from vpr.utils.figures import OTHERS

TITLES = {"moving-ball": "Moving Ball", "3dsd": "3DSD"}
LEVEL_FACTORS: Mapping[str, Mapping[int, str]] = {  # dataset → level → its factor
    "moving-ball": {2: "colour"},
    "3dsd": {1: "floor", 2: "wall", 3: "object"},
}
FACTOR_COLOURS = dict(zip(("colour", "wall", "object"), OTHERS, strict=False))  # in figures


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


def dataset_runs(scale: Scale) -> dict[str, RunConfig]:
    """The runs of `criteria` and of `3dsd-events`."""
    return {name: run_config(name, scale) for name in TITLES}


def slow_factors(results: Results) -> dict[str, str]:
    """Factor → dataset, for levels 2 to N of the datasets with results."""
    return {
        factor: dataset
        for dataset in results
        for level, factor in LEVEL_FACTORS[dataset].items()
        if level > 1
    }


def nested_world(world: int, scale: Scale) -> RunConfig:
    """The run of a nested world, with one level per factor.

    Scale paper is the same as cpu, since the dataset is not in the paper.
    """
    config = run_config("nested-world", "tiny" if scale == "tiny" else "cpu")
    return config.with_data(NestedWorld(world=world))


def scored_events(data: Data) -> dict[int, str]:
    """Level → the name of its true events in an evaluation, for levels 2 to N."""
    if isinstance(data, NestedWorld):
        return {level: events_name(level) for level in range(2, data.levels + 1)}
    return {level: factor for level, factor in LEVEL_FACTORS[data.name].items() if level > 1}
