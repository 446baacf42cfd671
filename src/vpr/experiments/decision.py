"""Appendix A.2: D_st, D_ch and CU's threshold over one sequence, early and late in training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vpr.config import RunConfig
from vpr.experiments.ball import LEVEL, ball, curve, over_training, setting, steps
from vpr.experiments.base import Claim, Experiment, Results, Scale
from vpr.experiments.figures import BOTH, CE, CU, GREY, draw_band, panels, unit
from vpr.experiments.trained import Record, trained

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EARLY = 500  # the step that the paper shows
CURVES = ("f1_expected", "f1_unexpected")


def variants(scale: Scale) -> dict[str, RunConfig]:
    return {"both": ball(scale)}


def pick(record: Record) -> dict[str, Any]:
    """The looks at the paper's early step and at the end, and each criterion's own F1."""
    looks = record["looks"]
    early = min(looks, key=lambda look: abs(look["step"] - EARLY))
    moments = {"early": early, "late": looks[-1]}
    curves = {name: over_training(record, name) for name in CURVES}
    return {
        "f1": looks[-1]["levels"][LEVEL]["f1"],
        "curve": {"step": steps(record)} | curves,
    } | {name: {"step": look["step"]} | look["levels"][LEVEL] for name, look in moments.items()}


def draw(results: Results) -> Figure:
    runs = results["both"]
    shown = runs[0].metrics
    with panels(3) as (figure, (early, late, over)):
        _draw_sequence(early, shown["early"])
        _draw_sequence(late, shown["late"])
        early.set_ylabel("nats")
        draw_band(over, [curve(run, "f1_expected") for run in runs], CE, "CE's marks")
        draw_band(over, [curve(run, "f1_unexpected") for run in runs], CU, "CU's marks")
        over.set_xlabel("training step")
        unit(over, "F1 of each criterion alone")
        over.legend(loc="lower right")
        handles, labels = early.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _draw_sequence(axes: Axes, moment: dict[str, Any]) -> None:
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
    axes.set_title(f"step {moment['step']}", color=GREY)
    axes.set_xlabel("frame")
    axes.grid(visible=False, axis="x")


def _numbers(values: list[float | None]) -> list[float]:
    """A logarithmic axis has no place for 0."""
    return [np.nan if value is None else max(value, 1e-3) for value in values]


def claims(results: Results) -> list[Claim]:
    words = {"early": "CU decides (figure only)", "late": "CE is the more accurate (figure only)"}
    names = {"f1_expected": "CE", "f1_unexpected": "CU"}
    return [
        Claim(
            f"Moving Ball, {'step 500' if moment == 'early' else 'at the end'}: F1 of {name} alone",
            words[moment],
            [run.metrics[moment][key] for run in results["both"]],
            f"32 sequences; CE may decide only in the last stage; {setting(results['both'])}",
        )
        for moment in words
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
