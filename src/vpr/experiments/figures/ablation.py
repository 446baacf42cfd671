"""F1 of our recipe without each of its additions to the paper's training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vpr.config import RunConfig
from vpr.experiments.runner.experiment import Advance, Claim, Experiment, Measured, Results, Scale
from vpr.experiments.runner.result_metrics import metric
from vpr.experiments.runner.settings import describe_config, run_config
from vpr.experiments.runner.training_runs import measure_training
from vpr.experiments.shared.datasets import nested_world, scored_events
from vpr.experiments.shared.levels import level_scores
from vpr.training.additions import ADDITIONS, additions_of
from vpr.utils.figures import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORLDS = (4, 9)  # two of the nested worlds for development
TITLES = {"moving-ball": "Moving Ball", "3dsd": "3DSD"} | {
    f"world-{world}": f"Nested world {world}" for world in WORLDS
}


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
    return plain | {f"world-{world}": nested_world(world, scale) for world in WORLDS}


def variants(scale: Scale) -> dict[str, RunConfig]:
    configs = {}
    for name, config in datasets(scale).items():
        configs[Cell(name).name] = config
        for each in additions_of(config):
            configs[Cell(name, each.name).name] = each.remove(config)
    return configs


def measure(config: RunConfig, seed: int, runs: Path, advance: Advance) -> Measured:
    scores = level_scores(scored_events(config.data))
    return measure_training(scores)(config, seed, runs, advance)


def draw(results: Results) -> Figure:
    """A table of the mean F1 over levels and runs, coloured by value."""
    present = cells(results)
    names = [name for name in TITLES if any(cell.dataset == name for cell in present)]
    labels = list(dict.fromkeys(cell.label for cell in sorted(present, key=_row)))
    table = np.full((len(labels), len(names)), np.nan)
    for cell in present:
        f1 = np.mean(metric(results[cell.name], "f1"))
        table[labels.index(cell.label), names.index(cell.dataset)] = f1
    with panels(1, width=4.4 + 1.5 * len(names), height=1.4 + 0.42 * len(labels)) as (figure, axes):
        (heatmap,) = axes
        heatmap.pcolormesh(np.ma.masked_invalid(table), cmap="viridis", vmin=0, vmax=1, alpha=0.7)
        for (row, column), value in np.ndenumerate(table):
            text = "" if np.isnan(value) else f"{value:.2f}"
            heatmap.text(column + 0.5, row + 0.5, text, ha="center", va="center")
        heatmap.set_xticks(np.arange(len(names)) + 0.5, [TITLES[name] for name in names])
        heatmap.set_yticks(np.arange(len(labels)) + 0.5, labels)
        heatmap.invert_yaxis()
        heatmap.grid(visible=False)
        heatmap.set_title("mean F1 of levels 2 to N")
    return figure


def _row(cell: Cell) -> int:
    """Row of the table: the whole recipe first, then the order of the additions."""
    names = ["", *(each.name for each in ADDITIONS)]
    return names.index(cell.removed)


def claims(results: Results) -> list[Claim]:
    """One row per level of each variant. The setting is that of the whole recipe."""
    rows = []
    presets = datasets("cpu")
    for cell in cells(results):
        config, runs = presets[cell.dataset], results[cell.name]
        for level, events in scored_events(config.data).items():
            what = f"{TITLES[cell.dataset]}, {cell.label}: level-{level} F1"
            f1 = metric(runs, f"f1_{events}")
            rows.append(Claim(what, "none", f1, describe_config(config)))
    return rows


EXPERIMENT = Experiment(
    name="ablation",
    paper="",
    title="F1 on four datasets without each addition to the paper's training in turn",
    cost="one training run of the preset of the dataset",
    variants=variants,
    measure=measure,
    draw=draw,
    claims=claims,
    seeds=3,
)
