"""Not in the paper: calibration and lengths of imagined events, frame by frame."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vpr.config import RunConfig
from vpr.data import ThreeDShapesDynamic
from vpr.errors import VPRError
from vpr.evaluation import evaluate_imagination
from vpr.experiments.runner.base import Claim, Experiment, Results
from vpr.experiments.runner.settings import describe, scaled_count
from vpr.experiments.runner.training_runs import measure_model
from vpr.experiments.shared.datasets import FACTOR_COLOURS, TITLES, dataset_runs, slow_factors
from vpr.experiments.shared.imagined_changes import FRAMES, PARTS, score_imagined_changes
from vpr.experiments.shared.panels import draw_band, score_axis
from vpr.experiments.shared.readers import SEED
from vpr.generation.durations import Durations
from vpr.generation.learn_durations import fit_durations
from vpr.model import VPR
from vpr.pretrained import load_durations, save_durations
from vpr.utils.figures import GREY, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEQUENCES, IMAGINED = 256, 200  # sequences, and frames of each, for lengths and calibration
FITTED = 2048  # sequences to which durations are fitted
PAPER = "not in the paper"
SCORES = {
    "order": "share of events with the next hue in order",
    "time": "share of frames with the true hue",
    "f1": "F1 of the imagined events at the exact frame",
}


def evaluate(model: VPR, config: RunConfig, folder: Path) -> dict[str, Any]:
    """Calibration and lengths for levels 2 to N; for 3DSD also order and timing."""
    durations = _durations(model, config, folder)
    metrics = evaluate_imagination(
        model,
        durations,
        config.data,
        sequences=scaled_count(config, SEQUENCES),
        frames=scaled_count(config, IMAGINED),
        seed=SEED,
    )
    if isinstance(config.data, ThreeDShapesDynamic):
        metrics["film"] = score_imagined_changes(model, durations, config, config.data, folder)
    return metrics


def _durations(model: VPR, config: RunConfig, folder: Path) -> Durations:
    """The durations in the run folder, which are fitted and saved there if necessary."""
    with suppress(VPRError):  # missing, or fitted to other weights
        return load_durations(folder, model)
    sequences = scaled_count(config, FITTED)
    fitted = fit_durations(model, config.data, sequences=sequences, seed=config.seed)
    save_durations(fitted, model, folder)
    return fitted


def draw(results: Results) -> Figure:
    """Reliability of the probabilities, lengths of events, and share of correct frames of 3DSD."""
    with panels(3) as (figure, (reliability, lengths, accuracy)):
        reliability.plot([0, 1], [0, 1], color=GREY, linestyle="--")
        for factor, (dataset, level) in slow_factors(results).items():
            values = [run.metrics["levels"][str(level)] for run in results[dataset]]
            colour = FACTOR_COLOURS[factor]
            _draw_reliability(reliability, values, colour, f"{TITLES[dataset]}, {factor}")
            _draw_lengths(lengths, values, colour)
        if scores := [run.metrics["film"] for run in results.get("3dsd", [])]:
            for factor in ("wall", "object"):
                _draw_accuracy(accuracy, scores, factor)
        accuracy.set_xlabel("imagined frames (dashed: drawn endings)")
        score_axis(accuracy, "share of frames with the true hue, 3DSD")
        reliability.legend(loc="upper left")
    return figure


def _draw_accuracy(axes: Axes, scores: list[dict[str, Any]], factor: str) -> None:
    """Solid for the likeliest endings, dashed for drawn ones."""
    ends = [FRAMES * (k + 1) / PARTS for k in range(PARTS)]
    likeliest = [(ends, each["likeliest"][factor]["parts"]) for each in scores]
    draw_band(axes, likeliest, FACTOR_COLOURS[factor], factor)
    for each in scores:
        axes.plot(
            ends, each["drawn"][factor]["parts"], "--", color=FACTOR_COLOURS[factor], alpha=0.4
        )


def _draw_reliability(axes: Axes, values: list[dict[str, Any]], colour: str, label: str) -> None:
    for number, each in enumerate(values):
        points = each["calibration"]
        name = label if number == 0 else None
        axes.plot(
            points["forecast"], points["frequency"], ".-", color=colour, alpha=0.6, label=name
        )
    axes.set_xlabel("predicted probability that the event ends")
    score_axis(axes, "observed frequency")


def _draw_lengths(axes: Axes, values: list[dict[str, Any]], colour: str) -> None:
    """Solid for imagined events, dashed for true ones."""
    for each in values:
        for name, line in (("imagined", "-"), ("true", "--")):
            longer = each["lengths"][name]["longer"]
            axes.plot(range(len(longer)), longer, line, color=colour, alpha=0.6)
    axes.set_xlim(0, 20)
    axes.set_xlabel("frames (dashed: true events)")
    score_axis(axes, "share of events that last longer")


def claims(results: Results) -> list[Claim]:
    rows = []
    for factor, (dataset, level) in slow_factors(results).items():
        runs = results[dataset]
        values = [run.metrics["levels"][str(level)] for run in runs]
        name, setting = f"{TITLES[dataset]}, {factor}", describe(runs)
        lengths = [each["lengths"] for each in values]
        errors = [abs(each["imagined"]["mean"] / each["true"]["mean"] - 1) for each in lengths]
        what = f"{name}: relative error of the mean imagined length"
        rows.append(Claim(what, PAPER, errors, setting, percent=True))
        for key, what in (("error", "expected calibration error"), ("skill", "forecast skill")):
            ours = [each["calibration"][key] for each in values]
            rows.append(Claim(f"{name}: {what}", PAPER, ours, setting))
        if dataset == "3dsd":
            rows += [
                Claim(
                    f"{name}, {FRAMES} frames, {endings} endings: {what}",
                    PAPER,
                    [run.metrics["film"][endings][factor][key] for run in runs],
                    setting,
                )
                for endings in ("likeliest", "drawn")
                for key, what in SCORES.items()
            ]
    return rows


EXPERIMENT = Experiment(
    name="imagination",
    paper="",
    title="Moving Ball and 3DSD: calibration and lengths of imagined events",
    cost="four minutes per run; uses the models of criteria and 3dsd-events",
    variants=dataset_runs,
    measure=measure_model(evaluate),
    draw=draw,
    claims=claims,
)
