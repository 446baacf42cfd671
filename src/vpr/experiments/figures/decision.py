"""Appendix A.2: D_st, D_ch and CU's threshold over one sequence, early and late in training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vpr.config import RunConfig
from vpr.experiments.runner.base import Claim, Experiment, Results, Scale
from vpr.experiments.runner.settings import setting
from vpr.experiments.runner.trained import Record, steps, trained
from vpr.experiments.shared.moving_ball import LEVEL, ball, over_training
from vpr.experiments.shared.panels import BOTH, CE, CU, GREY, curve, draw_band, panels, unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EARLY = 500  # the step that the paper shows
CURVES = ("f1_expected", "f1_unexpected")
MOMENTS = {
    "early": "step 500",
    "annealed": "β reaches 1",
    "late": "the end",
}


def variants(scale: Scale) -> dict[str, RunConfig]:
    return {"both": ball(scale)}


def pick(record: Record) -> dict[str, Any]:
    """Three looks at one sequence, and each criterion's own F1 over training."""
    looks = record["looks"]
    moments = {
        "early": _nearest(looks, EARLY),
        "annealed": _before_last_stage(looks),
        "late": looks[-1],
    }
    curves = {name: over_training(record, name) for name in CURVES}
    return {
        "f1": looks[-1]["levels"][LEVEL]["f1"],
        "curve": {"step": steps(record)} | curves,
    } | {name: {"step": look["step"]} | look["levels"][LEVEL] for name, look in moments.items()}


def _nearest(looks: list[dict[str, Any]], step: int) -> dict[str, Any]:
    return min(looks, key=lambda look: abs(look["step"] - step))


def _before_last_stage(looks: list[dict[str, Any]]) -> dict[str, Any]:
    """The last look at a model for which β was below 1; the first of all if there is none."""
    return next((look for look in reversed(looks) if look["stage"] != looks[-1]["stage"]), looks[0])


def draw(results: Results) -> Figure:
    """The sequence of the first run; the curves of all."""
    runs = results["both"]
    with panels(2, rows=2, width=6) as (figure, (*sequences, over)):
        for axes, (name, words) in zip(sequences, MOMENTS.items(), strict=True):
            _draw_sequence(axes, runs[0].metrics[name], words)
        draw_band(over, [curve(run, "f1_expected") for run in runs], CE, "CE's marks")
        draw_band(over, [curve(run, "f1_unexpected") for run in runs], CU, "CU's marks")
        over.set_xlabel("training step")
        unit(over, "F1 of each criterion")
        over.legend(loc="lower right")
        handles, labels = sequences[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _draw_sequence(axes: Axes, moment: dict[str, Any], words: str) -> None:
    """An event is detected where D_st stands above D_ch, or above the threshold."""
    sequence = moment["sequence"]
    frames = np.arange(1, len(sequence["true"]) + 1)
    for frame in frames[np.asarray(sequence["true"])]:
        first = frame == frames[np.asarray(sequence["true"])][0]
        axes.axvline(frame, color="#dddddd", linewidth=4, label="colour changes" if first else None)
    axes.plot(frames, _numbers(sequence["kl_static"]), color=BOTH, label="D_st")
    axes.plot(frames, _numbers(sequence["kl_change"]), color=CE, label="D_ch (CE)")
    threshold = _numbers(sequence["threshold"])
    axes.plot(frames, threshold, color=CU, linestyle="--", label="threshold (CU)")
    axes.set_yscale("log")
    title = words if moment["step"] == EARLY else f"{words}, step {moment['step']}"
    axes.set_title(title, color=GREY)
    axes.set_xlabel("frame")
    axes.set_ylabel("nats")
    axes.grid(visible=False, axis="x")


def _numbers(values: list[float | None]) -> list[float]:
    """A logarithmic axis has no place for 0."""
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
            f"Moving Ball, {words}: F1 of {name}'s marks",
            f"{paper[moment]} (figure only)",
            [run.metrics[moment][key] for run in results["both"]],
            f"32 sequences; {setting(results['both'])}",
        )
        for moment, words in MOMENTS.items()
        for key, name in names.items()
    ]


EXPERIMENT = Experiment(
    name="decision",
    title="Moving Ball: what decides at level 2, early and late in training",
    cost="no training of its own once criteria is done",
    variants=variants,
    measure=trained(pick),
    draw=draw,
    claims=claims,
)
