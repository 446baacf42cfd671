"""Our recipe without each of its additions to the paper's training: F1 and predicted events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vpr.config import RunConfig
from vpr.experiments.figures import prediction
from vpr.experiments.runner.experiment import (
    Advance,
    Claim,
    Experiment,
    Measured,
    Result,
    Results,
    Scale,
)
from vpr.experiments.runner.result_metrics import metric
from vpr.experiments.runner.settings import describe_config, run_config
from vpr.experiments.runner.training_runs import measure_model, measure_training
from vpr.experiments.shared.datasets import LEVEL_FACTORS, nested_world, scored_events
from vpr.experiments.shared.levels import level_scores
from vpr.training.additions import ADDITIONS, additions_of
from vpr.utils.figures import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORLD = 4  # a nested world for development
TITLES = {"moving-ball": "Moving Ball", "3dsd": "3DSD", "world": f"Nested world {WORLD}"}

QUANTITIES = {"f1": "F1", "ahead": "200 events"}


class Cell(NamedTuple):
    """A variant: a dataset, and the addition that is removed from the recipe, if any."""

    dataset: str
    removed: str = ""

    @property
    def name(self) -> str:
        return f"{self.dataset}-{f'without-{self.removed}' if self.removed else 'full'}"

    @property
    def label(self) -> str:
        return f"without {self.removed}" if self.removed else "our recipe"


def cells(results: Results) -> list[Cell]:
    """The variants that have results."""
    removed = ("", *(addition.name for addition in ADDITIONS))
    every = [Cell(dataset, name) for dataset in TITLES for name in removed]
    return [cell for cell in every if cell.name in results]


def datasets(scale: Scale) -> dict[str, RunConfig]:
    """The runs with the whole recipe. Scale paper is the same as cpu: it has no additions."""
    scale = "tiny" if scale == "tiny" else "cpu"
    plain = {name: run_config(name, scale) for name in ("moving-ball", "3dsd")}
    return plain | {"world": nested_world(WORLD, scale)}


def variants(scale: Scale) -> dict[str, RunConfig]:
    configs = {}
    for name, config in datasets(scale).items():
        configs[Cell(name).name] = config
        for each in additions_of(config):
            configs[Cell(name, each.name).name] = each.remove(config)
    return configs


def measure(config: RunConfig, seed: int, runs: Path, advance: Advance) -> Measured:
    """F1 of each level and, if the values of its factor can be read, of its predicted events."""
    scores = level_scores(scored_events(config.data))
    trained = measure_training(scores)(config, seed, runs, advance)
    if config.data.name not in LEVEL_FACTORS:
        return trained
    predicted = measure_model(prediction.evaluate)(config, seed, runs, advance)
    factors = scored_events(config.data).values()
    ahead = {factor: predicted.metrics[factor]["accuracy"] for factor in factors}
    return predicted._replace(metrics=trained.metrics | {"ahead": ahead})


def draw(results: Results) -> Figure:
    """A table, coloured by value: the means over levels and runs of F1 and of the accuracy."""
    present = cells(results)
    labels = list(dict.fromkeys(cell.label for cell in sorted(present, key=_row)))
    names = [name for name in TITLES if any(cell.dataset == name for cell in present)]
    columns = [(name, "f1") for name in names]
    columns += [(name, "ahead") for name in names if name in LEVEL_FACTORS]
    table = np.full((len(labels), len(columns)), np.nan)
    for cell in present:
        for kind in ("f1", "ahead"):
            if (cell.dataset, kind) in columns:
                place = labels.index(cell.label), columns.index((cell.dataset, kind))
                table[place] = _mean(results[cell.name], kind)
    with panels(1, width=4.4 + 1.6 * len(columns), height=1.6 + 0.42 * len(labels)) as (
        figure,
        axes,
    ):
        (heatmap,) = axes
        heatmap.pcolormesh(np.ma.masked_invalid(table), cmap="viridis", vmin=0, vmax=1, alpha=0.7)
        for (row, column), value in np.ndenumerate(table):
            text = "" if np.isnan(value) else f"{value:.3f}"
            heatmap.text(column + 0.5, row + 0.5, text, ha="center", va="center")
        titles = [f"{TITLES[name]}\n{QUANTITIES[kind]}" for name, kind in columns]
        heatmap.set_xticks(np.arange(len(columns)) + 0.5, titles)
        heatmap.set_yticks(np.arange(len(labels)) + 0.5, labels)
        heatmap.invert_yaxis()
        heatmap.grid(visible=False)
    return figure


def _mean(runs: list[Result], name: str) -> float:
    """The mean over runs of a number, or of a number for each factor."""
    values = metric(runs, name)
    return float(np.mean([[*v.values()] if isinstance(v, dict) else v for v in values]))


def _row(cell: Cell) -> int:
    """Row of the table: the whole recipe first, then the order of the additions."""
    names = ["", *(each.name for each in ADDITIONS)]
    return names.index(cell.removed)


def claims(results: Results) -> list[Claim]:
    """Rows for each level of each variant. The setting is that of the whole recipe."""
    rows = []
    presets = datasets("cpu")
    for cell in cells(results):
        config, runs = presets[cell.dataset], results[cell.name]
        for level, events in scored_events(config.data).items():
            what = f"{TITLES[cell.dataset]}, {cell.label}: level-{level} F1"
            f1 = metric(runs, f"f1_{events}")
            rows.append(Claim(what, "none", f1, describe_config(config)))
        for factor in runs[0].metrics.get("ahead", {}):
            what = f"{TITLES[cell.dataset]}, {cell.label}: 200 events ahead, {factor}"
            ahead = metric(runs, "ahead", factor)
            rows.append(Claim(what, "none", ahead, describe_config(config)))
    return rows


EXPERIMENT = Experiment(
    name="ablation",
    paper="",
    title="F1 and predicted events without each addition to the paper's training in turn",
    cost="one training run of the preset of the dataset",
    variants=variants,
    measure=measure,
    draw=draw,
    claims=claims,
    seeds=3,
)
