"""VTA and CW-VAE: F1 of their boundaries with controls, and 200 events predicted by CW-VAE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import torch

from vpr.baselines import CWVAE, BaselineRun, VTAConfig, load_baseline
from vpr.data import ThreeDShapesDynamic
from vpr.evaluation.factor_readers import accuracy
from vpr.evaluation.generated_factors import (
    advances_by_one,
    events_in,
    future,
    in_order,
    read_open_loop,
    read_reconstruction,
)
from vpr.experiments.runner.experiment import (
    Advance,
    Claim,
    Experiment,
    Measured,
    Published,
    Result,
    Results,
    Scale,
)
from vpr.experiments.runner.result_metrics import controls_of, f1_row, metric, prediction_row
from vpr.experiments.runner.settings import scaled_count
from vpr.experiments.runner.store import with_seed
from vpr.experiments.shared.baseline_runs import (
    baseline_run,
    factors_of,
    final_scores,
    finish_baseline,
)
from vpr.experiments.shared.panels import draw_curve, draw_runs, score_axis
from vpr.experiments.shared.readers import evaluation_batch, readable_data, reader_for
from vpr.utils.config_json import from_dict
from vpr.utils.figures import GREY, line_colours, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VARIANTS = (
    "vta-moving-ball",
    "cw-vae-moving-ball",
    "cw-vae-moving-ball-aligned",
    "vta-3dsd",
    "cw-vae-3dsd",
    "cw-vae-3dsd-aligned",
    "vta-bouncing-balls",
    "vta-maze",
    "vta-synthetic",
)
TITLES = {
    "moving-ball": "Moving Ball",
    "3dsd": "3DSD",
    "bouncing-balls": "Bouncing Balls",
    "maze": "Miniworld Maze",
    "synthetic": "Synthetic",
}
EVENTS, SEQUENCES = 200, 64
CONTEXT = 36  # frames before the prediction, as published
PREDICTED_FRAMES = 1600  # predicted frames: 200 events of the slowest factor, the object of 3DSD
PAPER_F1 = {"moving-ball": Published(0.52, 0.05, "project page")}
PAPER_ACCURACY = {
    "colour": Published(0.47, 0.09),
    "wall": Published(0.92, 0.05),
    "object": Published(0.71, 0.02),
}
COMPARED = ("moving-ball", "3dsd", "bouncing-balls", "synthetic")  # where VPR is above VTA


def variants(scale: Scale) -> dict[str, BaselineRun]:
    return {name: baseline_run(name, scale) for name in VARIANTS}


def measure(config: BaselineRun, seed: int, runs: Path, advance: Advance) -> Measured:
    """Train and score the boundaries; with CW-VAE, also predict events."""
    config = with_seed(config, seed)
    record, folder = finish_baseline(config, runs, advance)
    start, metrics = perf_counter(), final_scores(record, config)
    model = load_baseline(folder)
    if isinstance(model, CWVAE):
        metrics["prediction"] = predict(model, config, runs)
    seconds = record["seconds"] + perf_counter() - start
    return Measured(metrics, seconds, record["provenance"])


def predict(model: CWVAE, config: BaselineRun, runs: Path) -> dict[str, dict[str, float]]:
    """For each factor, the shares of correct events, of correct steps, and of correct frames.

    An event is a change of the factor in the predicted frames. `accuracy` compares event k with the
    factor k places on in its cycle, `steps` each event with the one before; events that are missing
    count as wrong. `in_time` compares every frame, for factors that change at fixed periods.
    """
    batch = evaluation_batch(config, SEQUENCES, CONTEXT)
    reader, data = reader_for(config, runs), readable_data(config)
    video, events = torch.from_numpy(batch.frames), scaled_count(config, EVENTS)
    decoded = read_open_loop(model, reader, video, scaled_count(config, PREDICTED_FRAMES))
    present = read_reconstruction(model, reader, video)
    found = {}
    for _, factor in factors_of(config):
        seen, count = batch.factors[factor], data.counts[factor]
        last = seen[:, -1]
        predicted_events = events_in(decoded[factor], last, events)
        found[factor] = {
            "accuracy": float(in_order(predicted_events, last, count).mean()),
            "steps": float(advances_by_one(predicted_events, last, count).mean()),
            "events": float((predicted_events >= 0).mean()),
            "reconstructed": accuracy({factor: present[factor]}, {factor: last})[factor],
        }
        if isinstance(data, ThreeDShapesDynamic):
            period = {"wall": data.wall_period, "object": data.object_period}[factor]
            true = future(seen, batch.changes[factor], period, count, decoded[factor].shape[1])
            found[factor]["in_time"] = float((decoded[factor] == true).mean())
    return found


def draw(results: Results) -> Figure:
    """F1 over training; final F1 and the better control; correct events of CW-VAE."""
    lines = list(_lines(results))
    colours = line_colours(len(lines))
    with panels(3, width=6.0, height=4.6) as (figure, (over, final, ahead)):
        for (label, runs, factor), colour in zip(lines, colours, strict=True):
            draw_curve(over, runs, f"f1_{factor}", colour, label)
        score_axis(over, "F1")
        over.set_xlabel("training step")
        groups = {label: metric(runs, f"f1_{factor}") for label, runs, factor in lines}
        draw_runs(final, groups, colours)
        for place, (_, runs, factor) in enumerate(lines):
            better = max(_mean(runs, f"{name}_f1_{factor}") for name in ("periodic", "random"))
            final.plot([place - 0.3, place + 0.3], [better, better], "--", color=GREY)
        score_axis(final, "final F1; dashed: better control")
        predicted = [
            (line, colour) for line, colour in zip(lines, colours, strict=True) if _predicts(line)
        ]
        accuracies = {line[0]: _predictions(line, "accuracy") for line, _ in predicted}
        draw_runs(ahead, accuracies, [colour for _, colour in predicted])
        score_axis(ahead, f"share of {EVENTS} events that are correct")
        over.legend(loc="upper left", fontsize=8)
        for axes in (final, ahead):
            axes.tick_params(axis="x", rotation=75, labelsize=8)
    return figure


def claims(results: Results) -> list[Claim]:
    rows = []
    for line in _lines(results):
        rows.append(_f1_claim(line))
        if _predicts(line):
            rows += _prediction_claims(line)
    return rows


def _f1_claim(line: Line) -> Claim:
    label, runs, factor = line
    data, is_vta = _config(runs).data.name, isinstance(_config(runs).model, VTAConfig)
    return Claim(
        f"{label}: F1",
        PAPER_F1.get(data, "figure only") if is_vta else "none",
        metric(runs, f"f1_{factor}"),
        describe(runs),
        controls=controls_of(runs, factor),
        main=f1_row(TITLES[data], factor) if is_vta and data in COMPARED else "",
        method=_method(runs),
    )


def _prediction_claims(line: Line) -> Iterator[Claim]:
    label, runs, factor = line
    what, description = f"{label}, {EVENTS} events ahead", describe(runs)
    yield Claim(
        what,
        PAPER_ACCURACY[factor],
        _predictions(line, "accuracy"),
        description,
        main=prediction_row(TITLES[_config(runs).data.name], factor),
        method=_method(runs),
    )
    for key, words in (
        ("steps", "correct relative to the previous predicted event"),
        ("in_time", f"share of {PREDICTED_FRAMES:,} frames with the true hue"),
        ("reconstructed", "correct in the reconstruction of the last frame"),
    ):
        if values := _predictions(line, key):
            yield Claim(f"{what}: {words}", "none", values, description)


Line = tuple[str, list[Result], str]  # a label, its runs, and the factor


def _lines(results: Results) -> Iterator[Line]:
    for runs in results.values():
        config = _config(runs)
        for _, factor in factors_of(config):
            yield f"{_method(runs)}, {TITLES[config.data.name]}, {factor}", runs, factor


def _method(runs: Sequence[Result]) -> str:
    """Name of the model, as a column of the main results."""
    if isinstance(_config(runs).model, VTAConfig):
        return "VTA"
    return "CW-VAE, aligned" if runs[0].variant.endswith("-aligned") else "CW-VAE"


def _config(runs: Sequence[Result]) -> BaselineRun:
    return from_dict(BaselineRun, runs[0].config, "config")


def _mean(runs: Sequence[Result], name: str) -> float:
    return float(np.mean(metric(runs, name)))


def _predicts(line: Line) -> bool:
    return "prediction" in line[1][0].metrics


def _predictions(line: Line, key: str) -> list[float]:
    _, runs, factor = line
    return [each[key] for each in metric(runs, "prediction", factor) if key in each]


def describe(runs: Sequence[Result]) -> str:
    """The preset and the main settings, for a footnote."""
    config = _config(runs)
    if config.preset.startswith("tiny/"):
        return f"{config.preset}: not a measurement, only checks that everything runs"
    model, training = config.model, config.training
    if isinstance(model, VTAConfig):
        length, most = model.max_segment_length, model.max_segments
        own = f"segments up to {length} frames and {most} per sequence in the prior"
    else:
        own = f"intervals {', '.join(map(str, model.intervals))}"
    return (
        f"{config.preset}: image network {model.network}, {own}, {training.steps:,} steps of "
        f"{training.batch_size} sequences of {training.length} frames"
    )


EXPERIMENT = Experiment(
    name="baselines",
    paper="figures 3b, 3d, 4d, 13 and 17, section 4.4",
    title="VTA and CW-VAE: F1 of boundaries, and 200 predicted events of CW-VAE",
    cost="five to twenty minutes per run",
    variants=variants,
    measure=measure,
    draw=draw,
    claims=claims,
)
