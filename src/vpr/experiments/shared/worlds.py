"""Data whose hierarchy is known: which events each level should find."""

from __future__ import annotations

from collections.abc import Mapping

from vpr.config import Data, RunConfig
from vpr.data import NestedWorld
from vpr.experiments.runner.base import Scale
from vpr.experiments.runner.settings import run_of
from vpr.experiments.shared.truth import events_of

NAMES = {"moving-ball": "Moving Ball", "3dsd": "3DSD"}
HELD: Mapping[str, Mapping[int, str]] = {  # level → the factor that is its own
    "moving-ball": {2: "colour"},
    "3dsd": {1: "floor", 2: "wall", 3: "object"},
}


def worlds(scale: Scale) -> dict[str, RunConfig]:
    """The runs of `adaptation`, fast ball, and of `3dsd-events`."""
    return {name: run_of(name, scale) for name in NAMES}


def nested_world(world: int, scale: Scale) -> RunConfig:
    """The run of a nested world, with a level for each factor.

    The paper has no such data, hence no scale of its own.
    """
    config = run_of("nested-world", "tiny" if scale == "tiny" else "cpu")
    return config.with_data(NestedWorld(world=world))


def scored_events(data: Data) -> dict[int, str]:
    """Level → the name of its true events in an evaluation, from level 2 on."""
    if isinstance(data, NestedWorld):
        return {level: events_of(level) for level in range(2, data.levels + 1)}
    return {level: factor for level, factor in HELD[data.name].items() if level > 1}
