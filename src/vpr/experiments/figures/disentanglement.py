"""Figure 7: which factor varies when a level of 3DSD is sampled; VPR beside fixed intervals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from vpr.config import RunConfig
from vpr.evaluation.disentanglement import mean_entropy, read_draws
from vpr.experiments.runner.base import Claim, Experiment, Result, Results, Scale
from vpr.experiments.runner.finished import amount, asking
from vpr.experiments.runner.settings import run_of, setting
from vpr.experiments.shared.panels import BOTH, OTHERS, panels, spread
from vpr.experiments.shared.readers import reader_for, reader_scores, watched
from vpr.experiments.shared.worlds import HELD
from vpr.model import VPR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWS, TRIALS = 32, 100  # the paper's I and M
INTERVALS = ((1, 2, 4), (1, 4, 8), (1, 8, 16))  # of levels 1 to 3; the data's periods are 1, 4, 8
FACTORS = HELD["3dsd"]  # level → the factor of the same rank, fastest first
INKS = (BOTH, OTHERS[1], OTHERS[0])
BAR = 0.27


def variants(scale: Scale) -> dict[str, RunConfig]:
    vpr = run_of("3dsd", scale)
    clocks = {
        "clock-" + "-".join(map(str, each)): replace(
            vpr, model=replace(vpr.model, rule="clockwork", intervals=each)
        )
        for each in INTERVALS
    }
    return {"vpr": vpr} | clocks


def ask(model: VPR, config: RunConfig, folder: Path) -> dict[str, Any]:
    """H_v of every factor at every level, and how well the extractor reads."""
    reader = reader_for(config, folder.parent)
    batch = watched(config, amount(config, TRIALS))
    video, draws = torch.from_numpy(batch.frames), amount(config, DRAWS)
    found = {}
    for level in FACTORS:
        drawn = read_draws(model, reader, video, level, draws)
        found[str(level)] = {factor: mean_entropy(values) for factor, values in drawn.items()}
    return {"entropy": found, "reader": reader_scores(reader, model, batch)}


def entropies(run: Result, level: int) -> list[float]:
    """H_v of the three factors that change, fastest first."""
    return [run.metrics["entropy"][str(level)][factor] for factor in FACTORS.values()]


def margin(run: Result, level: int) -> float:
    """How far the entropy of the factor of the level's rank lies above the other two's."""
    values = entropies(run, level)
    own = values.pop(level - 1)
    return own - max(values)


def draw(results: Results) -> Figure:
    """A panel a variant: at each level a bar for each factor, every run as a point."""
    with panels(len(results), width=5.0) as (figure, axes):
        for (name, runs), each in zip(results.items(), axes, strict=True):
            each.set_title(title(name))
            _draw_variant(each, runs)
        axes[0].set_ylabel("average entropy $H_v$, nats")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _draw_variant(axes: Axes, runs: list[Result]) -> None:
    values = np.array(
        [[entropies(run, level) for level in FACTORS] for run in runs]
    )  # (runs, 3, 3)
    for rank, (factor, ink) in enumerate(zip(FACTORS.values(), INKS, strict=True)):
        at = np.array(list(FACTORS)) + BAR * (rank - 1)
        axes.bar(
            at,
            values.mean(0)[:, rank],
            BAR,
            yerr=spread(values)[:, rank],
            color=ink,
            alpha=0.7,
            label=f"{rank + 1}: {factor}",
        )
        for run in values:
            axes.plot(at, run[:, rank], ".", color="black", markersize=4)
    axes.set_ylim(0, np.log(10) * 1.05)
    axes.set_xticks(list(FACTORS), [f"level {level}" for level in FACTORS])


def title(variant: str) -> str:
    intervals = variant.removeprefix("clock-").replace("-", ", ")
    return "VPR" if variant == "vpr" else f"every {intervals} frames"


def claims(results: Results) -> list[Claim]:
    rows = []
    for name, runs in results.items():
        what = f"3DSD, {title(name)}: entropy of the factor of a level's rank over the others'"
        paper = "above 0 at all levels (figure only)" if name == "vpr" else "not so (figure only)"
        for level in FACTORS:
            ours = [margin(run, level) for run in runs]
            rows.append(Claim(f"{what}, level {level}", paper, ours, setting(runs)))
        for kind in ("true", "reconstructed"):
            scores = [run.metrics["reader"][kind] for run in runs]
            ours = [float(np.mean(list(each.values()))) for each in scores]
            what = f"3DSD, {title(name)}: six factors extracted of {kind} frames, right"
            rows.append(Claim(what, "none", ours, setting(runs)))
    return rows


EXPERIMENT = Experiment(
    name="disentanglement",
    title="3DSD: average entropy of each factor in samples of each level; VPR, fixed intervals",
    cost="one run of cpu/3dsd each; vpr is that of 3dsd-events",
    variants=variants,
    measure=asking(ask),
    draw=draw,
    claims=claims,
)
