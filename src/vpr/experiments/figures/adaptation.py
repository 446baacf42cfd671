"""Figure 3a: update rate and F1 of level 2 for a fast and a slow ball."""

from __future__ import annotations

from functools import partial
from typing import Any

from vpr.config import RunConfig
from vpr.experiments.runner.experiment import (
    Claim,
    Experiment,
    Published,
    Results,
    Scale,
    Statement,
)
from vpr.experiments.runner.inspect_training import LENGTH
from vpr.experiments.runner.result_metrics import f1_row, metric
from vpr.experiments.runner.settings import describe, run_config
from vpr.experiments.runner.training_runs import Record, measure_training
from vpr.experiments.runner.verdicts import between, not_below
from vpr.experiments.shared.moving_ball import (
    Variant,
    draw_training,
    f1_claims,
    scores,
    training_curve,
)
from vpr.utils.figures import OTHERS

VARIANTS = {
    "fast": Variant("fast ball", OTHERS[0], Published(0.97, 0.03)),
    "slow": Variant(
        "slow ball",
        OTHERS[1],
        "as high as for the fast ball (figure only)",
        f1_row("Moving Ball, slow", "colour"),
    ),
}


def variants(scale: Scale) -> dict[str, RunConfig]:
    return {"fast": run_config("moving-ball", scale), "slow": run_config("moving-ball-slow", scale)}


def extract_metrics(record: Record) -> dict[str, Any]:
    """Scores, and the mean number of frames between updates."""
    metrics = scores(record)
    rates = training_curve(record, "update_rate")
    metrics["curve"]["interval"] = [interval(rate) for rate in rates]
    return metrics | {"interval": interval(metrics["update_rate"])}


def interval(rate: float) -> float:
    """Mean number of frames between two updates, at most the length of a sequence."""
    return 1 / max(rate, 1 / LENGTH)


def claims(results: Results) -> list[Claim]:
    rows = f1_claims(results, VARIANTS)
    if fewer := fewer_updates(results):
        what = "Moving Ball: reduction of level-2 updates from 6 to 2.5 px per frame"
        rows.append(Claim(what, "about 30 %", fewer, describe(results["fast"]), percent=True))
    return rows


def statements(results: Results) -> list[Statement]:
    if not {"fast", "slow"} <= results.keys():
        return []
    text = "Moving Ball: reduction of level-2 updates on the slow ball between 20 % and 40 %"
    return [
        not_below(
            "Moving Ball: F1 on the slow ball not below F1 on the fast ball",
            metric(results["slow"], "f1"),
            metric(results["fast"], "f1"),
        ),
        between(text, fewer_updates(results), 0.2, 0.4),
    ]


def fewer_updates(results: Results) -> list[float]:
    """1 − rate(slow) / rate(fast), for each seed that has both."""
    by_seed = {
        name: {run.seed: run.metrics["update_rate"] for run in results.get(name, [])}
        for name in VARIANTS
    }
    seeds = sorted(by_seed["fast"].keys() & by_seed["slow"].keys())
    pairs = ((by_seed["fast"][seed], by_seed["slow"][seed]) for seed in seeds)
    return [1 - slow / fast for fast, slow in pairs if fast]


EXPERIMENT = Experiment(
    name="adaptation",
    paper="figure 3a",
    title="Moving Ball, fast and slow: frames between level-2 updates, and F1",
    cost="one training run of cpu/moving-ball; fast is shared with criteria",
    variants=variants,
    measure=measure_training(extract_metrics),
    draw=partial(
        draw_training,
        variants=VARIANTS,
        curve_name="interval",
        axis="frames between level-2 updates",
    ),
    claims=claims,
    statements=statements,
)
