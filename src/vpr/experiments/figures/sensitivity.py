"""Figure 15: how F1 depends on CU's window τ_w and threshold weight γ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vpr.config import RunConfig
from vpr.data import MovingBall
from vpr.experiments.runner.experiment import Claim, Experiment, Result, Results, Scale, Statement
from vpr.experiments.runner.result_metrics import metric
from vpr.experiments.runner.settings import describe, run_config
from vpr.experiments.runner.training_runs import measure_training
from vpr.experiments.runner.verdicts import above, not_below
from vpr.experiments.shared.moving_ball import scores
from vpr.experiments.shared.panels import sample_std, score_axis
from vpr.utils.figures import OTHERS, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The paper mentions 5 windows and 4 weights, but only the values 100, 1.1 and 1.2.
WINDOWS = (25, 50, 100, 200, 400)
WEIGHTS = (0.9, 1.0, 1.1, 1.2)


def base_run(scale: Scale) -> RunConfig:
    """Moving Ball; at scale cpu with small frames, to shorten the hundred runs to four hours."""
    config = run_config("moving-ball", scale)
    if scale != "cpu":
        return config
    data = MovingBall(size=32)
    return replace(config, model=replace(config.model, frame=data.frame, width=100), data=data)


def variants(scale: Scale) -> dict[str, RunConfig]:
    config = base_run(scale)
    return {
        f"w{window}-g{gamma}": replace(
            config, model=replace(config.model, window=window, gamma=gamma)
        )
        for window in WINDOWS
        for gamma in WEIGHTS
    }


def draw(results: Results) -> Figure:
    with panels(2) as (figure, (window, gamma)):
        _draw_marginal(window, results, WINDOWS, window_of, "window τ_w")
        _draw_marginal(gamma, results, WEIGHTS, gamma_of, "threshold weight γ")
    return figure


def _draw_marginal(
    axes: Axes,
    results: Results,
    values: Sequence[float],
    value_of: Callable[[Result], float],
    name: str,
) -> None:
    """F1 at each value of one parameter, over all values of the other."""
    runs = [run for each in results.values() for run in each]
    present = [value for value in values if any(value_of(run) == value for run in runs)]
    f1 = [np.array([r.metrics["f1"] for r in runs if value_of(r) == v]) for v in present]
    mean, std = np.array([f.mean() for f in f1]), np.array([sample_std(f) for f in f1])
    places = np.arange(len(present))
    axes.plot(places, mean, "o-", color=OTHERS[0])
    axes.fill_between(places, mean - std, mean + std, color=OTHERS[0], alpha=0.2, linewidth=0)
    axes.set_xticks(places, [str(value) for value in present])
    axes.set_xlabel(name)
    score_axis(axes, "F1 of level 2")


def window_of(run: Result) -> float:
    return float(run.config["model"]["window"])


def gamma_of(run: Result) -> float:
    return float(run.config["model"]["gamma"])


def claims(results: Results) -> list[Claim]:
    runs = [run for each in results.values() for run in each]
    rows = []
    for values, value_of, name, paper in (
        (WINDOWS, window_of, "all γ, τ_w", "no significant effect (figure only)"),
        (WEIGHTS, gamma_of, "all τ_w, γ", "worse at 1.2 (figure only)"),
    ):
        for value in values:
            if chosen := [run for run in runs if value_of(run) == value]:
                what = f"Moving Ball, level-2 F1, {name} = {value}"
                rows.append(Claim(what, paper, metric(chosen, "f1"), describe(chosen)))
    return rows


def statements(results: Results) -> list[Statement]:
    """The window has no effect, and γ = 1.2 is worse than the 1.1 of the paper."""
    runs = [run for each in results.values() for run in each]
    windows = [metric([run for run in runs if window_of(run) == value], "f1") for value in WINDOWS]
    usual, high = ([run for run in runs if gamma_of(run) == gamma] for gamma in (1.1, 1.2))
    found = []
    if all(windows):
        worst, best = min(windows, key=np.mean), max(windows, key=np.mean)
        found.append(not_below("Moving Ball: no window τ_w below another in F1", worst, best))
    if usual and high:
        found.append(
            above(
                "Moving Ball: F1 with γ = 1.1 above γ = 1.2",
                metric(usual, "f1"),
                metric(high, "f1"),
            )
        )
    return found


EXPERIMENT = Experiment(
    name="sensitivity",
    paper="figure 15, appendix C.4",
    title="Moving Ball, small frames: F1 of level 2 by window and threshold weight of CU",
    cost="one training run of cpu/moving-ball with small frames",
    variants=variants,
    measure=measure_training(scores, every=500),
    draw=draw,
    claims=claims,
    statements=statements,
)
