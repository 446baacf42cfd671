"""The two worlds whose hierarchy is known: which factor each level should hold."""

from __future__ import annotations

from collections.abc import Mapping

from vpr.config import RunConfig
from vpr.experiments.base import Scale
from vpr.experiments.settings import run_of

NAMES = {"moving-ball": "Moving Ball", "3dsd": "3DSD"}
HELD: Mapping[str, Mapping[int, str]] = {  # level → the factor that is its own
    "moving-ball": {2: "colour"},
    "3dsd": {1: "floor", 2: "wall", 3: "object"},
}


def worlds(scale: Scale) -> dict[str, RunConfig]:
    """The runs of `depth`, two layers, and of `3dsd-events`."""
    return {name: run_of(name, scale) for name in NAMES}
