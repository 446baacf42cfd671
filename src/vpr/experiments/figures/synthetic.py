"""Figure 4: F1 of CE and CU in a minimal VPR on Synthetic, with and without noise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vpr.data import evaluation_rng, training_rng
from vpr.evaluation import score
from vpr.experiments.runner.experiment import (
    Advance,
    Claim,
    Experiment,
    Measured,
    Result,
    Results,
    Scale,
    Statement,
)
from vpr.experiments.runner.result_metrics import f1_row, metric
from vpr.experiments.runner.verdicts import above, at_least, not_below
from vpr.experiments.shared.minimal_vpr import MinimalConfig, MinimalVPR
from vpr.experiments.shared.panels import curve, draw_curve, sample_std, score_axis
from vpr.utils.figures import BOTH, CE, CU, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Corner = Literal["lower left", "lower right", "upper right"]
NOISES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
NOISY = "both-n0.4"  # panel c
CE_ONLY = "ce-n0.0"
MAIN = ("both-n0.0", "f1_expected")  # of the main results
FINAL, DURING_TRAINING = 0, 1  # evaluation seeds
SEQUENCES, LENGTH = {FINAL: 256, DURING_TRAINING: 64}, 50
LABELS = {"f1": "CE or CU", "f1_expected": "CE", "f1_unexpected": "CU"}  # in drawing order
COLOURS = {"f1_expected": CE, "f1_unexpected": CU, "f1": BOTH}
COMMON = "2 apart; posteriors with a standard deviation of 2"
SETTING = f"every value has one successor; 20 values, {COMMON}; chosen after looking at seed 0"
OTHER_SETTINGS = {
    "chance": f"random jumps, as in the paper; 20 values, {COMMON}",
    "ten": f"every value has one successor; 10 values, {COMMON}",
}
OPTIMAL = 0.95  # F1 that counts as optimal
NOISY_SETTINGS = {
    NOISY: ", noise 0.4",
    "both-n1.0": ", noise 1",
    "chance-n0.4": ", random jumps, noise 0.4",
    "ten-n0.4": ", ten values, noise 0.4",
}
ROWS = (  # variant, metric, description, result in the paper
    ("both-n0.0", "f1_expected", "CE with CU, noise 0: F1 of CE", "optimal"),
    (CE_ONLY, "f1_expected", "CE without CU, noise 0: F1 of CE", "does not improve"),
    ("both-n0.0", "unexpected_share", "CE with CU, noise 0: share of unexpected events", "falls"),
    (NOISY, "f1_expected", "noise 0.4: F1 of CE", "beyond CU"),
    (NOISY, "f1_unexpected", "noise 0.4: F1 of CU", "limited"),
    (NOISY, "f1", "noise 0.4: F1 of CE or CU", "not stated"),
    ("both-n1.0", "f1_expected", "noise 1: F1 of CE", "significantly more robust than CU"),
    ("both-n1.0", "f1_unexpected", "noise 1: F1 of CU", "substantially reduced"),
    ("chance-n0.0", "f1_expected", "random jumps, noise 0: F1 of CE", "optimal"),
    ("chance-n0.4", "f1_expected", "random jumps, noise 0.4: F1 of CE", "beyond CU"),
    ("chance-n0.4", "f1_unexpected", "random jumps, noise 0.4: F1 of CU", "limited"),
    ("ten-n0.4", "f1_expected", "ten values, noise 0.4: F1 of CE", "beyond CU"),
    ("ten-n0.4", "f1_unexpected", "ten values, noise 0.4: F1 of CU", "limited"),
)


def variants(scale: Scale) -> dict[str, MinimalConfig]:
    """Scale paper is the same as cpu, since the paper gives no sizes for this figure."""
    base = MinimalConfig()
    if scale == "tiny":
        base = replace(base, steps=4, batch_size=4, look_every=2, hidden=4)
    chance = replace(base, data=replace(base.data, order=0.0))
    return (
        {f"both-n{noise}": replace(base, noise=noise) for noise in NOISES}
        | {CE_ONLY: replace(base, unexpected=False)}
        | {f"chance-n{noise}": replace(chance, noise=noise) for noise in (0.0, 0.4)}
        | {"ten-n0.4": replace(base, data=replace(base.data, values=10), noise=0.4)}
    )


def measure(config: MinimalConfig, seed: int, runs: Path, advance: Advance) -> Measured:
    """Train and evaluate. This takes seconds, so nothing is saved in `runs`."""
    start = perf_counter()
    model, rng, points = MinimalVPR(config, seed), training_rng(seed), []
    for step in range(config.steps + 1):
        if step % config.look_every == 0 or step == config.steps:
            points.append({"step": step} | scores(model, DURING_TRAINING))
            advance(step, config.steps, f"F1 of CE {points[-1]['f1_expected']:.2f}")
        if step < config.steps:
            batch = config.data.batch(config.batch_size, config.length, rng)
            model.train_step(model.posterior(batch.frames, rng))
    curves = {name: [point[name] for point in points] for name in points[0]}
    return Measured(scores(model, FINAL) | {"curve": curves}, perf_counter() - start)


def scores(model: MinimalVPR, seed: int) -> dict[str, Any]:
    """F1 of the boundaries, update rate, and the share of boundaries that only CU causes."""
    rng, config = evaluation_rng(seed), model.config
    batch = config.data.batch(SEQUENCES[seed], LENGTH, rng)
    found = model.detect(model.posterior(batch.frames, rng))
    true, boundary = batch.changes["value"], found.boundary
    return {
        "f1": score(boundary, true).f1,
        "f1_expected": score(found.expected, true).f1,
        "f1_unexpected": score(found.unexpected, true).f1,
        "update_rate": float(boundary[:, 1:].mean()),
        "unexpected_share": float((boundary & ~found.expected).sum() / max(boundary.sum(), 1)),
    }


def draw(results: Results) -> Figure:
    with panels(2, rows=2, width=5.6) as (figure, (learns, share, noisy, against)):
        clean, ce_only = results.get("both-n0.0", []), results.get(CE_ONLY, [])
        _over(learns, clean, "f1_expected", BOTH, "CE, with CU")
        _over(learns, ce_only, "f1_expected", CE, "CE, without CU")
        score_axis(learns, "F1 of CE")
        _over(share, clean, "unexpected_share", BOTH, "CE and CU")
        score_axis(share, "share of unexpected events")
        for name, label in LABELS.items():
            _over(noisy, results.get(NOISY, []), name, COLOURS[name], label)
        score_axis(noisy, "F1")
        _draw_noise(against, results)
        _finish(learns, "(a) noise 0", "training step", "lower right")
        _finish(share, "(b) noise 0", "training step", "upper right")
        _finish(noisy, "(c) noise 0.4", "training step", "lower right")
        _finish(against, "(d) after training", "posterior noise", "lower left")
    return figure


def _finish(axes: Axes, title: str, across: str, corner: Corner) -> None:
    """Set title and label, and add a legend if there are curves."""
    axes.set_title(title)
    axes.set_xlabel(across)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc=corner)


def _over(axes: Axes, runs: list[Result], name: str, colour: str, label: str) -> None:
    if runs:
        draw_curve(axes, runs, name, colour, label)


def _draw_noise(axes: Axes, results: Results) -> None:
    """Final F1 of each criterion against the noise."""
    present = {noise: results[f"both-n{noise}"] for noise in NOISES if f"both-n{noise}" in results}
    for name, label in LABELS.items():
        runs = [np.asarray(metric(each, name)) for each in present.values()]
        if runs:
            means, stds = [r.mean() for r in runs], [float(sample_std(r)) for r in runs]
            axes.errorbar(
                list(present), means, stds, color=COLOURS[name], label=label, marker="o", capsize=3
            )
    score_axis(axes, "F1")


def claims(results: Results) -> list[Claim]:
    """Rows of the variants that have results; the paper has only curves here."""
    return [
        Claim(
            f"Synthetic, {what}",
            f"{paper} (figure only)",
            metric(results[variant], name),
            OTHER_SETTINGS.get(variant.split("-")[0], SETTING),
            name == "unexpected_share",
            main=f1_row("Synthetic", "value") if (variant, name) == MAIN else "",
        )
        for variant, name, what, paper in ROWS
        if variant in results
    ]


def statements(results: Results) -> list[Statement]:
    """What the paper reads from its figure, for each of our settings."""
    found = []
    if clean := results.get("both-n0.0"):
        ce, share = metric(clean, "f1_expected"), "unexpected_share"
        found += [
            at_least("Synthetic: F1 of CE optimal without noise", ce, OPTIMAL),
            above(
                "Synthetic: share of unexpected events falls during training",
                _first(clean, share),
                metric(clean, share),
            ),
        ]
    if alone := results.get(CE_ONLY):
        found.append(
            not_below(
                "Synthetic: CE without CU does not improve: F1 before training not below after",
                _first(alone, "f1_expected"),
                metric(alone, "f1_expected"),
            )
        )
    if clean and (noisy := results.get("both-n1.0")):
        text = "Synthetic: noise 1 reduces the F1 of CU"
        found.append(above(text, metric(clean, "f1_unexpected"), metric(noisy, "f1_unexpected")))
    if jumps := results.get("chance-n0.0"):
        text = "Synthetic, random jumps: F1 of CE optimal without noise"
        found.append(at_least(text, metric(jumps, "f1_expected"), OPTIMAL))
    for variant, setting in NOISY_SETTINGS.items():
        if runs := results.get(variant):
            text = f"Synthetic{setting}: F1 of CE above CU"
            found.append(above(text, metric(runs, "f1_expected"), metric(runs, "f1_unexpected")))
    return found


def _first(runs: list[Result], name: str) -> list[float]:
    """The values before training."""
    return [curve(run, name)[1][0] for run in runs]


EXPERIMENT = Experiment(
    name="synthetic",
    paper="figure 4",
    title="Synthetic: F1 of CE and CU in a minimal VPR, over training and against posterior noise",
    cost="about 3 seconds per run",
    variants=variants,
    measure=measure,
    draw=draw,
    claims=claims,
    statements=statements,
)
