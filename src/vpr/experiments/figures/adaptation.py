"""Figure 3a: level 2 updates less often when the ball is slow, and is as accurate."""

from __future__ import annotations

from functools import partial
from typing import Any

from vpr.config import RunConfig
from vpr.experiments.runner.base import Claim, Experiment, Results, Scale
from vpr.experiments.runner.inspect_training import LENGTH
from vpr.experiments.runner.settings import setting
from vpr.experiments.runner.trained import Record, trained
from vpr.experiments.shared.moving_ball import (
    Appearance,
    ball,
    draw_training,
    over_training,
    scores,
)
from vpr.experiments.shared.panels import BOTH, OTHERS

APPEARANCES = {"fast": Appearance("fast ball", BOTH), "slow": Appearance("slow ball", OTHERS[1])}
PAPER = {"fast": "0.97 ± 0.03", "slow": "as high as for the fast ball (figure only)"}


def variants(scale: Scale) -> dict[str, RunConfig]:
    return {"fast": ball(scale), "slow": ball(scale, slow=True)}


def pick(record: Record) -> dict[str, Any]:
    """Frames from one update to the next, beside F1."""
    metrics = scores(record)
    rates = over_training(record, "update_rate")
    metrics["curve"]["interval"] = [interval(rate) for rate in rates]
    return metrics | {"interval": interval(metrics["update_rate"])}


def interval(rate: float) -> float:
    """Mean number of frames between two updates: at most a sequence, which is all that was seen."""
    return 1 / max(rate, 1 / LENGTH)


def claims(results: Results) -> list[Claim]:
    rows = [
        Claim(
            f"Moving Ball, {APPEARANCES[name].label}: level-2 F1",
            PAPER[name],
            [run.metrics["f1"] for run in runs],
            setting(runs),
        )
        for name, runs in results.items()
    ]
    if fewer := fewer_updates(results):
        what = "Moving Ball: fewer level-2 updates on the slow ball"
        rows.append(
            Claim(
                what, "about 30 %", fewer, f"speeds 6 and 2.5 px; {setting(results['fast'])}", True
            )
        )
    return rows


def fewer_updates(results: Results) -> list[float]:
    """1 − rate(slow) / rate(fast), for each seed that has both."""
    by_seed = {
        name: {run.seed: run.metrics["update_rate"] for run in results.get(name, [])}
        for name in APPEARANCES
    }
    seeds = sorted(by_seed["fast"].keys() & by_seed["slow"].keys())
    pairs = ((by_seed["fast"][seed], by_seed["slow"][seed]) for seed in seeds)
    return [1 - slow / fast for fast, slow in pairs if fast]


EXPERIMENT = Experiment(
    name="adaptation",
    title="Moving Ball, fast and slow: frames between level-2 updates, and F1",
    cost="one run of cpu/moving-ball each; fast is shared with criteria",
    variants=variants,
    measure=trained(pick),
    draw=partial(
        draw_training,
        appearances=APPEARANCES,
        curve_name="interval",
        axis="frames between level-2 updates",
    ),
    claims=claims,
)
