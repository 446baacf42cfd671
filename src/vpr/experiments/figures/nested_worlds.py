"""The benchmark of nested worlds: one configuration on 20 worlds that were not used for tuning."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vpr.config import RunConfig
from vpr.data import NestedWorld
from vpr.data.nested_spec import EVALUATION
from vpr.experiments.runner.experiment import (
    Advance,
    Claim,
    Controls,
    Experiment,
    Measured,
    Result,
    Results,
    Scale,
)
from vpr.experiments.runner.result_metrics import metric
from vpr.experiments.runner.settings import describe
from vpr.experiments.runner.training_runs import TARGET_F1, Record, measure_training, record_steps
from vpr.experiments.shared.datasets import nested_world, scored_events
from vpr.experiments.shared.panels import score_axis
from vpr.utils.figures import GREY, LEVEL_COLOURS, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SOLVED_F1 = 0.85  # F1 that every level of a solved world reaches
Level = dict[str, Any]


def variants(scale: Scale) -> dict[str, RunConfig]:
    return {f"world-{world}": nested_world(world, scale) for world in EVALUATION}


def measure(config: RunConfig, seed: int, runs: Path, advance: Advance) -> Measured:
    assert isinstance(config.data, NestedWorld)
    extract = partial(extract_metrics, data=config.data)
    return measure_training(extract)(config, seed, runs, advance)


def extract_metrics(record: Record, data: NestedWorld) -> dict[str, Any]:
    """Scores of levels 2 to N, and a description of the world."""
    events = scored_events(data)
    curves = {
        f"f1_{level}": [each["levels"][str(level)]["f1"] for each in record["looks"]]
        for level in events
    }
    return {
        "world": data.description,
        "levels": {str(level): _level(record, data, level) for level in events},
        "elbo": record["evaluation"]["elbo"],
        "curve": {"step": record_steps(record)} | curves,
    }


def _level(record: Record, data: NestedWorld, level: int) -> Level:
    """Scores against the true events of a level; `own`: against the changes of factor n only."""
    found, controls = (record["evaluation"][kind][str(level)] for kind in ("levels", "controls"))
    factor, events = data.spec.factors[level - 1], scored_events(data)[level]
    scores: Level = found[events]
    return scores | {
        "factor": factor,
        "own": found[factor],
        "update_rate": found["update_rate"],
        "time_to_f1": record["time_to_f1"][str(level)],
        **{name: controls[name][events] for name in Controls._fields},
    }


def levels_of(results: Results) -> list[str]:
    """All levels in the results."""
    return sorted({level for runs in results.values() for level in runs[0].metrics["levels"]})


def level_metrics(results: Results, level: str) -> dict[str, list[Level]]:
    """World → metrics of a level for each run, for the worlds that have the level."""
    return {
        name.removeprefix("world-"): metric(runs, "levels", level)
        for name, runs in results.items()
        if level in runs[0].metrics["levels"]
    }


def draw(results: Results) -> Figure:
    """A panel per level: F1 in every world, sorted, and F1 of random boundaries."""
    levels = levels_of(results)
    with panels(len(levels), width=5.4) as (figure, axes):
        for level, colour, each in zip(levels, LEVEL_COLOURS, axes, strict=False):
            mean = _draw_level(each, level_metrics(results, level), colour)
            each.set_title(f"level {level}, mean {mean:.3f}")
        score_axis(axes[0], "F1")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _draw_level(axes: Axes, found: dict[str, list[Level]], colour: str) -> float:
    """Draw one level, and return its mean F1 over worlds."""
    means = {world: _mean([run["f1"] for run in runs]) for world, runs in found.items()}
    order = sorted(means, key=lambda world: means[world])
    overall = _mean(list(means.values()))
    axes.axhline(overall, color=colour, linestyle="--", label="mean")
    random = [_mean([run["random"]["f1"] for run in found[world]]) for world in order]
    axes.plot(range(len(order)), random, "_", color=GREY, markersize=10, label="random boundaries")
    for place, world in enumerate(order):
        f1 = [run["f1"] for run in found[world]]
        axes.plot([place] * len(f1), f1, "o", color=colour, label="VPR" if place == 0 else None)
    axes.set_xticks(range(len(order)), order, rotation=90, fontsize=10)
    axes.set_xlabel("world")
    score_axis(axes, "")
    return overall


def claims(results: Results) -> list[Claim]:
    setting = describe(next(iter(results.values())))
    found = {level: level_metrics(results, level) for level in levels_of(results)}
    every = [runs for worlds in found.values() for runs in worlds.values()]

    def row(what: str, values: list[float]) -> Claim:
        return Claim(f"Nested worlds: {what}", "none", values, setting)

    def f1_row(what: str, worlds: list[list[Level]]) -> Claim:
        controls = Controls(*(_f1(worlds, name) for name in Controls._fields))
        return row(what, _f1(worlds))._replace(controls=controls)

    rows = [f1_row("F1, all levels of all worlds", every)._replace(main="Nested worlds: F1")]
    rows += [f1_row(f"level-{level} F1", [*worlds.values()]) for level, worlds in found.items()]
    rows.append(row("F1 against the changes of factor n only, all levels", _f1(every, "own")))
    if times := [run["time_to_f1"] for runs in every for run in runs if run["time_to_f1"]]:
        minutes = [time["seconds"] / 60 for time in times]
        rows.append(row(f"minutes until F1 ≥ {TARGET_F1}, for levels that reach it", minutes))
    what = f"Nested worlds: worlds of {len(results)} in which every level has F1 ≥ {SOLVED_F1}"
    count = float(sum(map(is_solved, results.values())))
    return [*rows, Claim(what, "none", [count], setting, digits=0)]


def _f1(worlds: list[list[Level]], key: str = "") -> list[float]:
    """Mean over runs for each world; `key` is a control or `own`."""
    return [_mean([(run[key] if key else run)["f1"] for run in runs]) for runs in worlds]


def is_solved(runs: list[Result]) -> bool:
    """Whether the mean F1 over runs of every level is at least `SOLVED_F1`."""
    levels = runs[0].metrics["levels"]
    return all(_mean(metric(runs, "levels", level, "f1")) >= SOLVED_F1 for level in levels)


def _mean(values: list[float]) -> float:
    return float(np.mean(values))


EXPERIMENT = Experiment(
    name="nested-worlds",
    paper="",
    title="Nested worlds 100 to 119: F1 of each level in every world",
    cost="one training run of cpu/nested-world",
    variants=variants,
    measure=measure,
    draw=draw,
    claims=claims,
    seeds=1,
)
