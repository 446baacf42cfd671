"""Figure 3b: level-2 F1 on Moving Ball when CE, CU or both decide."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vpr.config import RunConfig
from vpr.experiments.ball import SETTING, ball, curve, scores
from vpr.experiments.base import Claim, Experiment, Results, Scale
from vpr.experiments.figures import BOTH, CE, CU, draw_band, draw_bars, panels, unit
from vpr.experiments.trained import trained

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = {"both": "CE and CU", "ce": "CE only", "cu": "CU only"}
COLOURS = {"both": BOTH, "ce": CE, "cu": CU}
PAPER = {
    "both": "0.97 ± 0.03",
    "ce": "clearly below both (figure only)",
    "cu": "clearly below both (figure only)",
}


def variants(scale: Scale) -> dict[str, RunConfig]:
    both = ball(scale)
    return {
        "both": both,
        "ce": replace(both, model=replace(both.model, unexpected=False)),
        "cu": replace(both, model=replace(both.model, expected=False)),
    }


def draw(results: Results) -> Figure:
    with panels(2) as (figure, (over, final)):
        for name, runs in results.items():
            draw_band(over, [curve(run, "f1") for run in runs], COLOURS[name], LABELS[name])
        over.set_xlabel("training step")
        unit(over, "F1 of level 2, colour changes")
        over.legend(loc="upper left")
        groups = {LABELS[name]: [r.metrics["f1"] for r in runs] for name, runs in results.items()}
        draw_bars(final, groups, [COLOURS[name] for name in results])
        unit(final, "F1 at the end, fresh sequences")
    return figure


def claims(results: Results) -> list[Claim]:
    return [
        Claim(
            f"Moving Ball, level-2 F1, {LABELS[name]}",
            PAPER[name],
            [run.metrics["f1"] for run in runs],
            SETTING,
        )
        for name, runs in results.items()
    ]


EXPERIMENT = Experiment(
    name="criteria",
    title="Moving Ball: F1 of level 2 over training with CE and CU, CE only, CU only",
    cost="about a quarter of an hour a run",
    variants=variants,
    measure=trained(scores),
    draw=draw,
    claims=claims,
)
