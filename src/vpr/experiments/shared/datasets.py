"""Datasets with a known hierarchy: the events that each level should detect."""

from __future__ import annotations

from collections.abc import Mapping

from vpr.config import Data, RunConfig
from vpr.data import NestedWorld
from vpr.experiments.runner.base import Results, Scale
from vpr.experiments.runner.settings import run_config
from vpr.experiments.shared.labels import events_name
from vpr.utils.figures import OTHERS

TITLES = {"moving-ball": "Moving Ball", "3dsd": "3DSD"}
LEVEL_FACTORS: Mapping[str, Mapping[int, str]] = {  # dataset → level → its factor
    "moving-ball": {2: "colour"},
    "3dsd": {1: "floor", 2: "wall", 3: "object"},
}
FACTOR_COLOURS = dict(zip(("colour", "wall", "object"), OTHERS, strict=False))  # in figures


def dataset_runs(scale: Scale) -> dict[str, RunConfig]:
    """The runs of `criteria` and of `3dsd-events`."""
    return {name: run_config(name, scale) for name in TITLES}


def slow_factors(results: Results) -> dict[str, tuple[str, int]]:
    """Factor → dataset and level, for levels 2 to N of the datasets with results."""
    levels = [(each, *item) for each in results for item in LEVEL_FACTORS[each].items()]
    return {factor: (dataset, level) for dataset, level, factor in levels if level > 1}


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
