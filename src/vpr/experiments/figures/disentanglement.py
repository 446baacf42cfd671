"""Figure 7: which factors vary in samples of each level of 3DSD, for VPR and fixed intervals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from vpr.config import RunConfig
from vpr.evaluation.generated_factors import mean_entropy, read_draws
from vpr.experiments.runner.experiment import Claim, Experiment, Result, Results, Scale, Statement
from vpr.experiments.runner.result_metrics import metric
from vpr.experiments.runner.settings import describe, run_config, scaled_count
from vpr.experiments.runner.training_runs import measure_model
from vpr.experiments.runner.verdicts import at_least, at_most
from vpr.experiments.shared.datasets import LEVEL_FACTORS
from vpr.experiments.shared.panels import sample_std
from vpr.experiments.shared.readers import evaluation_batch, reader_for, reader_scores
from vpr.model import VPR
from vpr.utils.figures import LEVEL_COLOURS, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWS, TRIALS = 32, 100  # the paper's I and M
INTERVALS = ((1, 2, 4), (1, 4, 8), (1, 8, 16))  # of levels 1 to 3; the data's periods are 1, 4, 8
FACTORS = LEVEL_FACTORS["3dsd"]
CONSTANT_FACTORS = {"shape": 1, "orientation": 2}  # the level that varies each, in figure 6
BAR_WIDTH = 0.27


def variants(scale: Scale) -> dict[str, RunConfig]:
    vpr = run_config("3dsd", scale)
    clocks = {
        "clock-" + "-".join(map(str, each)): replace(
            vpr, model=replace(vpr.model, rule="clockwork", intervals=each)
        )
        for each in INTERVALS
    }
    return {"vpr": vpr} | clocks


def evaluate(model: VPR, config: RunConfig, folder: Path) -> dict[str, Any]:
    """H_v of every factor in samples of every level, and the accuracy of the reader."""
    reader = reader_for(config, folder.parent)
    batch = evaluation_batch(config, TRIALS)
    video, draws = torch.from_numpy(batch.frames), scaled_count(config, DRAWS)
    entropy = {}
    for level in FACTORS:
        drawn = read_draws(model, reader, video, level, draws)
        entropy[str(level)] = {factor: mean_entropy(values) for factor, values in drawn.items()}
    return {"entropy": entropy, "reader": reader_scores(reader, model, batch)}


def entropies(run: Result, level: int) -> list[float]:
    """H_v of the three factors that change, fastest first."""
    return [run.metrics["entropy"][str(level)][factor] for factor in FACTORS.values()]


def lead(run: Result, factor: str, level: int) -> float:
    """Entropy of a factor in samples of a level, minus the highest in samples of the others."""
    values = {each: run.metrics["entropy"][str(each)][factor] for each in FACTORS}
    own = values.pop(level)
    return float(own - max(values.values()))


def margin(run: Result, level: int) -> float:
    """Difference between the entropy of the level's factor and the highest of the other two."""
    values = entropies(run, level)
    own = values.pop(level - 1)
    return own - max(values)


def draw(results: Results) -> Figure:
    """A panel per variant, with a bar per level and factor, and a point per run."""
    with panels(len(results), width=5.0) as (figure, axes):
        for (name, runs), each in zip(results.items(), axes, strict=True):
            each.set_title(title(name))
            _draw_variant(each, runs)
        axes[0].set_ylabel("average entropy $H_v$, nats")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _draw_variant(axes: Axes, runs: list[Result]) -> None:
    # (runs, 3, 3)
    values = np.array([[entropies(run, level) for level in FACTORS] for run in runs])
    for rank, (factor, colour) in enumerate(zip(FACTORS.values(), LEVEL_COLOURS, strict=True)):
        at = np.array(list(FACTORS)) + BAR_WIDTH * (rank - 1)
        axes.bar(
            at,
            values.mean(0)[:, rank],
            BAR_WIDTH,
            yerr=sample_std(values)[:, rank],
            color=colour,
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
        what = f"3DSD, {title(name)}: entropy of the level's factor minus the highest of the others"
        paper = (
            "above 0 at all levels (figure only)"
            if name == "vpr"
            else "not above 0 at all levels (figure only)"
        )
        for level in FACTORS:
            ours = [margin(run, level) for run in runs]
            rows.append(Claim(f"{what}, level {level}", paper, ours, describe(runs)))
        for kind in ("true", "reconstructed"):
            scores = metric(runs, "reader", kind)
            ours = [float(np.mean(list(each.values()))) for each in scores]
            what = f"3DSD, {title(name)}: accuracy of the reader on {kind} frames, six factors"
            rows.append(Claim(what, "none", ours, describe(runs)))
    return rows


def statements(results: Results) -> list[Statement]:
    """With VPR, every level varies its own factor most; with fixed intervals, not every level.

    Factors that are constant in a sequence should vary most at the levels that figure 6 shows.
    """
    found = []
    for name, runs in results.items():
        lowest = [min(margin(run, level) for level in FACTORS) for run in runs]
        text = f"3DSD, {title(name)}: highest entropy for its own factor at"
        if name == "vpr":
            found.append(at_least(f"{text} every level", lowest, 0))
            for factor, level in CONSTANT_FACTORS.items():
                text = f"3DSD: the {factor} varies more in samples of level {level} than of others"
                found.append(at_least(text, [lead(run, factor, level) for run in runs], 0))
        else:
            found.append(at_most(f"{text} not every level", lowest, 0))
    return found


EXPERIMENT = Experiment(
    name="disentanglement",
    paper="figure 7",
    title="3DSD: average entropy of each factor in samples of each level; VPR, fixed intervals",
    cost="one training run of cpu/3dsd; vpr is shared with 3dsd-events",
    variants=variants,
    measure=measure_model(evaluate),
    draw=draw,
    claims=claims,
    statements=statements,
)
