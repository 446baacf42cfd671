"""The benchmark of nested worlds: one setting, 20 worlds that nothing was tuned on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vpr.config import RunConfig
from vpr.data import NestedWorld
from vpr.data.nested_spec import EVALUATION
from vpr.experiments.runner.base import Advance, Claim, Experiment, Measured, Result, Results, Scale
from vpr.experiments.runner.settings import setting
from vpr.experiments.runner.store import seeded
from vpr.experiments.runner.trained import GOOD, Record, finish, steps
from vpr.experiments.shared.levels import INKS
from vpr.experiments.shared.panels import GREY, panels, unit
from vpr.experiments.shared.worlds import nested_world, scored_events

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SOLVED = 0.85  # F1 that every level of a world must have
CONTROLS = ("random", "periodic")
Level = dict[str, Any]


def variants(scale: Scale) -> dict[str, RunConfig]:
    return {f"world-{world}": nested_world(world, scale) for world in EVALUATION}


def measure(config: RunConfig, seed: int, runs: Path, advance: Advance) -> Measured:
    assert isinstance(config.data, NestedWorld)
    record, _ = finish(seeded(config, seed), runs, advance)
    return Measured(pick(record, config.data), record["seconds"], record["provenance"])


def pick(record: Record, data: NestedWorld) -> dict[str, Any]:
    """Scores of each level from 2 on, and the world in words."""
    events = scored_events(data)
    curves = {
        f"f1_{level}": [look["levels"][str(level)]["f1"] for look in record["looks"]]
        for level in events
    }
    return {
        "world": data.description,
        "levels": {str(level): _level(record, data, level) for level in events},
        "elbo": record["evaluation"]["elbo"],
        "curve": {"step": steps(record)} | curves,
    }


def _level(record: Record, data: NestedWorld, level: int) -> Level:
    """Scores against the level's true events; `own`: against the changes of factor n alone."""
    found, controls = (record["evaluation"][kind][str(level)] for kind in ("levels", "controls"))
    factor, events = data.spec.factors[level - 1], scored_events(data)[level]
    scores: Level = found[events]
    return scores | {
        "factor": factor,
        "own": found[factor],
        "update_rate": found["update_rate"],
        "time_to_f1": record["time_to_f1"][str(level)],
        **{name: controls[name][events] for name in CONTROLS},
    }


def levels_of(results: Results) -> list[str]:
    """Of the worlds that are there."""
    return sorted({level for runs in results.values() for level in runs[0].metrics["levels"]})


def told(results: Results, level: str) -> dict[str, list[Level]]:
    """World → what was measured of this level, run by run; of the worlds that have the level."""
    return {
        name.removeprefix("world-"): [run.metrics["levels"][level] for run in runs]
        for name, runs in results.items()
        if level in runs[0].metrics["levels"]
    }


def draw(results: Results) -> Figure:
    """A panel for each level: its F1 in every world, sorted, above that of random boundaries."""
    levels = levels_of(results)
    with panels(len(levels), width=5.4) as (figure, axes):
        for level, ink, each in zip(levels, INKS, axes, strict=False):
            mean = _draw_level(each, told(results, level), ink)
            each.set_title(f"level {level}, mean {mean:.3f}")
        unit(axes[0], "F1")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _draw_level(axes: Axes, found: dict[str, list[Level]], ink: str) -> float:
    """The mean over worlds."""
    means = {world: _mean([run["f1"] for run in runs]) for world, runs in found.items()}
    order = sorted(means, key=lambda world: means[world])
    overall = _mean(list(means.values()))
    axes.axhline(overall, color=ink, linestyle="--", label="mean")
    blind = [_mean([run["random"]["f1"] for run in found[world]]) for world in order]
    axes.plot(range(len(order)), blind, "_", color=GREY, markersize=10, label="random boundaries")
    for place, world in enumerate(order):
        f1 = [run["f1"] for run in found[world]]
        axes.plot([place] * len(f1), f1, "o", color=ink, label="VPR" if place == 0 else None)
    axes.set_xticks(range(len(order)), order, rotation=90, fontsize=10)
    axes.set_xlabel("world")
    unit(axes, "")
    return overall


def claims(results: Results) -> list[Claim]:
    levels, differs = levels_of(results), setting(next(iter(results.values())))
    found = {level: told(results, level) for level in levels}
    every = [runs for worlds in found.values() for runs in worlds.values()]

    def row(what: str, values: list[float]) -> Claim:
        return Claim(f"Nested worlds: {what}", "none", values, differs)

    rows = [row("F1, all levels of all worlds", _f1(every))]
    for level, worlds in found.items():
        rows.append(row(f"level-{level} F1", _f1(list(worlds.values()))))
    own = [_mean([run["own"]["f1"] for run in runs]) for runs in every]
    rows.append(row("F1 against the changes of factor n alone, all levels", own))
    for name in CONTROLS:
        blind = [_mean([run[name]["f1"] for run in runs]) for runs in every]
        rows.append(row(f"F1 of a blind control, {name}, all levels", blind))
    if times := [run["time_to_f1"] for runs in every for run in runs if run["time_to_f1"]]:
        minutes = [time["seconds"] / 60 for time in times]
        rows.append(row(f"minutes until F1 ≥ {GOOD}, levels that reach it", minutes))
    what = f"Nested worlds: worlds of {len(results)} in which every level has F1 ≥ {SOLVED}"
    count = float(sum(map(is_solved, results.values())))
    return [*rows, Claim(what, "none", [count], differs, digits=0)]


def is_solved(runs: list[Result]) -> bool:
    """Whether every level of the world has a high F1, as a mean over its runs."""
    levels = runs[0].metrics["levels"]
    return all(
        _mean([run.metrics["levels"][level]["f1"] for run in runs]) >= SOLVED for level in levels
    )


def _f1(worlds: list[list[Level]]) -> list[float]:
    """One number for each world."""
    return [_mean([run["f1"] for run in runs]) for runs in worlds]


def _mean(values: list[float]) -> float:
    return float(np.mean(values))


EXPERIMENT = Experiment(
    name="nested-worlds",
    title="Nested worlds 100 to 119: F1 of each level in every world",
    cost="one run of cpu/nested-world each",
    variants=variants,
    measure=measure,
    draw=draw,
    claims=claims,
    seeds=1,
)
