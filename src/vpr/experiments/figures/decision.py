"""Figure 9: D_st, D_ch and CU's threshold over one sequence, early and late in training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vpr.experiments.runner.experiment import Claim, Experiment, Results, Statement
from vpr.experiments.runner.result_metrics import metric
from vpr.experiments.runner.settings import describe, single_run
from vpr.experiments.runner.training_runs import Inspection, Record, measure_training, record_steps
from vpr.experiments.runner.verdicts import above
from vpr.experiments.shared.moving_ball import LEVEL, training_curve
from vpr.experiments.shared.panels import draw_curve, score_axis
from vpr.utils.figures import CE, CU, D_CH, D_ST, GREY, THRESHOLD, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EARLY = 500  # the step in the figure of the paper
CURVES = ("f1_expected", "f1_unexpected")
MOMENTS = {"early": "step 500", "annealed": "β reaches 1", "late": "end of training"}


def extract_metrics(record: Record) -> dict[str, Any]:
    """One sequence at three steps of training, and the F1 of each criterion over training."""
    inspections = record["looks"]
    moments = {
        "early": _nearest(inspections, EARLY),
        "annealed": _before_last_stage(inspections),
        "late": inspections[-1],
    }
    curves = {name: training_curve(record, name) for name in CURVES}
    return {
        "f1": inspections[-1]["levels"][LEVEL]["f1"],
        "curve": {"step": record_steps(record)} | curves,
    } | {name: {"step": each["step"]} | each["levels"][LEVEL] for name, each in moments.items()}


def _nearest(inspections: list[Inspection], step: int) -> Inspection:
    return min(inspections, key=lambda each: abs(each["step"] - step))


def _before_last_stage(inspections: list[Inspection]) -> Inspection:
    """The last inspection before the last stage, in which β is 1; else the first."""
    last = inspections[-1]["stage"]
    return next((each for each in reversed(inspections) if each["stage"] != last), inspections[0])


def draw(results: Results) -> Figure:
    """One sequence of the first run at three steps, and curves over all runs."""
    runs = results["both"]
    with panels(2, rows=2, width=6) as (figure, (*sequences, over)):
        for axes, (name, words) in zip(sequences, MOMENTS.items(), strict=True):
            _draw_sequence(axes, runs[0].metrics[name], words)
        draw_curve(over, runs, "f1_expected", CE, "boundaries of CE")
        draw_curve(over, runs, "f1_unexpected", CU, "boundaries of CU")
        over.set_xlabel("training step")
        score_axis(over, "F1 of each criterion")
        over.legend(loc="lower right")
        handles, labels = sequences[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _draw_sequence(axes: Axes, moment: dict[str, Any], words: str) -> None:
    """D_st, D_ch and the threshold; an event is detected if D_st exceeds one of the other two."""
    sequence = moment["sequence"]
    frames = np.arange(1, len(sequence["true"]) + 1)
    for frame in frames[np.asarray(sequence["true"])]:
        first = frame == frames[np.asarray(sequence["true"])][0]
        axes.axvline(frame, color="#dddddd", linewidth=4, label="colour changes" if first else None)
    axes.plot(frames, _numbers(sequence["kl_static"]), color=D_ST, label="D_st")
    axes.plot(frames, _numbers(sequence["kl_change"]), color=D_CH, label="D_ch (CE)")
    threshold = _numbers(sequence["threshold"])
    axes.plot(frames, threshold, color=THRESHOLD, linestyle="--", label="threshold (CU)")
    axes.set_yscale("log")
    title = words if moment["step"] == EARLY else f"{words}, step {moment['step']}"
    axes.set_title(title, color=GREY)
    axes.set_xlabel("frame")
    axes.set_ylabel("nats")
    axes.grid(visible=False, axis="x")


def _numbers(values: list[float | None]) -> list[float]:
    """Values for a logarithmic axis: None as NaN, and at least 0.001."""
    return [np.nan if value is None else max(value, 1e-3) for value in values]


def claims(results: Results) -> list[Claim]:
    paper = {
        "early": "CU decides",
        "annealed": "CU decides early",
        "late": "CE is the more accurate",
    }
    names = {"f1_expected": "CE", "f1_unexpected": "CU"}
    return [
        Claim(
            f"Moving Ball, {words}: F1 of the boundaries of {name} in 32 sequences",
            f"{paper[moment]} (figure only)",
            metric(results["both"], moment, key),
            describe(results["both"]),
        )
        for moment, words in MOMENTS.items()
        for key, name in names.items()
    ]


def statements(results: Results) -> list[Statement]:
    runs = results["both"]
    expected, unexpected = (
        {moment: metric(runs, moment, key) for moment in MOMENTS}
        for key in ("f1_expected", "f1_unexpected")
    )
    early, late = "early in training, F1 of CU above CE", "late in training, F1 of CE above CU"
    return [
        above(f"Moving Ball: {early}", unexpected["early"], expected["early"]),
        above(f"Moving Ball: {late}", expected["late"], unexpected["late"]),
    ]


EXPERIMENT = Experiment(
    name="decision",
    paper="figure 9, appendix A.2",
    title="Moving Ball: D_st, D_ch and threshold of level 2, early and late in training",
    cost="no training if criteria is done",
    variants=single_run("moving-ball"),
    measure=measure_training(extract_metrics),
    draw=draw,
    claims=claims,
    statements=statements,
)
