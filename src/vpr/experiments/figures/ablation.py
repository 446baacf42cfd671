"""Each of our additions to the paper's training, taken out in turn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vpr.config import RunConfig
from vpr.experiments.runner.base import Advance, Claim, Experiment, Measured, Results, Scale
from vpr.experiments.runner.settings import run_of, setting
from vpr.experiments.runner.store import seeded
from vpr.experiments.runner.trained import finish
from vpr.experiments.shared.levels import level_scores
from vpr.experiments.shared.panels import panels
from vpr.experiments.shared.worlds import nested_world, scored_events
from vpr.training.additions import ADDITIONS, additions_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORLDS = (4, 9)  # nested worlds, of those for development
TITLES = {"moving-ball": "Moving Ball", "3dsd": "3DSD"} | {
    f"world-{world}": f"Nested world {world}" for world in WORLDS
}


class Cell(NamedTuple):
    """What a variant is: a dataset, and the addition that is left out of its run."""

    dataset: str
    left_out: str = ""

    @property
    def name(self) -> str:
        return f"{self.dataset}-{f'without-{self.left_out}' if self.left_out else 'full'}"

    @property
    def label(self) -> str:
        return f"without {self.left_out}" if self.left_out else "our recipe"


def cells(results: Results) -> dict[Cell, str]:
    """Those that are there, with the names of their variants."""
    every = [Cell(name, out) for name in TITLES for out in ("", *(a.name for a in ADDITIONS))]
    return {cell: cell.name for cell in every if cell.name in results}


def datasets(scale: Scale) -> dict[str, RunConfig]:
    """The additions are those of cpu/…: the paper's own runs have none to leave out."""
    scale = "tiny" if scale == "tiny" else "cpu"
    plain = {name: run_of(name, scale) for name in ("moving-ball", "3dsd")}
    return plain | {f"world-{world}": nested_world(world, scale) for world in WORLDS}


def variants(scale: Scale) -> dict[str, RunConfig]:
    found = {}
    for name, config in datasets(scale).items():
        found[Cell(name).name] = config
        for each in additions_of(config):
            found[Cell(name, each.name).name] = each.remove(config)
    return found


def measure(config: RunConfig, seed: int, runs: Path, advance: Advance) -> Measured:
    record, _ = finish(seeded(config, seed), runs, advance)
    scores = level_scores(scored_events(config.data))(record)
    return Measured(scores, record["seconds"], record["provenance"])


def draw(results: Results) -> Figure:
    """A table of the mean F1 over levels and runs, coloured by its value."""
    there = cells(results)
    names = [name for name in TITLES if any(cell.dataset == name for cell in there)]
    labels = list(dict.fromkeys(cell.label for cell in sorted(there, key=_row)))
    table = np.full((len(labels), len(names)), np.nan)
    for cell, variant in there.items():
        f1 = np.mean([run.metrics["f1"] for run in results[variant]])
        table[labels.index(cell.label), names.index(cell.dataset)] = f1
    with panels(1, width=4.4 + 1.5 * len(names), height=1.4 + 0.42 * len(labels)) as (figure, axes):
        (each,) = axes
        each.pcolormesh(np.ma.masked_invalid(table), cmap="viridis", vmin=0, vmax=1, alpha=0.7)
        for (row, column), value in np.ndenumerate(table):
            text = "" if np.isnan(value) else f"{value:.2f}"
            each.text(column + 0.5, row + 0.5, text, ha="center", va="center")
        each.set_xticks(np.arange(len(names)) + 0.5, [TITLES[name] for name in names])
        each.set_yticks(np.arange(len(labels)) + 0.5, labels)
        each.invert_yaxis()
        each.grid(visible=False)
        each.set_title("mean F1 of levels 2 to N")
    return figure


def _row(cell: Cell) -> int:
    """Place in the order of the additions; the whole recipe comes first."""
    names = ["", *(each.name for each in ADDITIONS)]
    return names.index(cell.left_out)


def claims(results: Results) -> list[Claim]:
    """One line for each level of each variant."""
    rows = []
    for cell, variant in cells(results).items():
        runs = results[variant]
        for level, events in scored_events(datasets("cpu")[cell.dataset].data).items():
            what = f"{TITLES[cell.dataset]}, {cell.label}: level-{level} F1"
            f1 = [run.metrics[f"f1_{events}"] for run in runs]
            rows.append(Claim(what, "none", f1, setting(runs)))
    return rows


EXPERIMENT = Experiment(
    name="ablation",
    title="Each addition to the paper's training left out in turn: F1 on four datasets",
    cost="one run of the dataset's preset each",
    variants=variants,
    measure=measure,
    draw=draw,
    claims=claims,
    seeds=3,
)
