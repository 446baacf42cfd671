"""Figure 2: the roles of CE and CU in the minimal VPR on Synthetic, with and without noise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vpr.data import evaluation_rng, training_rng
from vpr.evaluation import score
from vpr.experiments.runner.base import Advance, Claim, Experiment, Measured, Result, Results, Scale
from vpr.experiments.shared.minimal_vpr import Minimal, MinimalConfig
from vpr.experiments.shared.panels import BOTH, CE, CU, curve, draw_band, panels, spread, unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Corner = Literal["lower left", "lower right", "upper right"]
NOISES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
NOISY = "both-n0.4"  # panel c
ALONE = "ce-n0.0"
FINAL, LOOKS = 0, 1  # evaluation streams: of the last scores, of the curves
SEQUENCES, LENGTH = {FINAL: 256, LOOKS: 64}, 50
KINDS = {"f1": "CE or CU", "f1_expected": "CE", "f1_unexpected": "CU"}  # drawn in this order
COLOURS = {"f1_expected": CE, "f1_unexpected": CU, "f1": BOTH}
SAME = "2 apart; one standard deviation for all beliefs"
SETTING = f"every level has one successor; 20 levels, {SAME}; chosen after looking at seed 0"
OTHER_SETTINGS = {
    "chance": f"jumps by chance, as the paper's; 20 levels, {SAME}",
    "ten": f"every level has one successor; 10 levels, {SAME}",
}
OURS = (  # variant, metric, what, the paper's words for it
    ("both-n0.0", "f1_expected", "CE with CU, noise 0: F1 of CE", "optimal"),
    (ALONE, "f1_expected", "CE without CU, noise 0: F1 of CE", "does not improve"),
    ("both-n0.0", "unexpected_share", "CE with CU, noise 0: events unexpected", "falls"),
    (NOISY, "f1_expected", "noise 0.4: F1 of CE", "beyond CU"),
    (NOISY, "f1_unexpected", "noise 0.4: F1 of CU", "limited"),
    (NOISY, "f1", "noise 0.4: F1 of CE or CU", "not told"),
    ("both-n1.0", "f1_expected", "noise 1: F1 of CE", "significantly more robust than CU"),
    ("both-n1.0", "f1_unexpected", "noise 1: F1 of CU", "substantially reduced"),
    ("chance-n0.0", "f1_expected", "pure chance, noise 0: F1 of CE", "optimal"),
    ("chance-n0.4", "f1_expected", "pure chance, noise 0.4: F1 of CE", "beyond CU"),
    ("chance-n0.4", "f1_unexpected", "pure chance, noise 0.4: F1 of CU", "limited"),
    ("ten-n0.4", "f1_expected", "ten levels, noise 0.4: F1 of CE", "beyond CU"),
    ("ten-n0.4", "f1_unexpected", "ten levels, noise 0.4: F1 of CU", "limited"),
)


def variants(scale: Scale) -> dict[str, MinimalConfig]:
    """The paper gives no sizes for this figure: scale paper is scale cpu."""
    base = MinimalConfig()
    if scale == "tiny":
        base = replace(base, steps=4, batch_size=4, look_every=2, hidden=4)
    chance = replace(base, data=replace(base.data, order=0.0))
    return (
        {f"both-n{noise}": replace(base, noise=noise) for noise in NOISES}
        | {ALONE: replace(base, unexpected=False)}
        | {f"chance-n{noise}": replace(chance, noise=noise) for noise in (0.0, 0.4)}
        | {"ten-n0.4": replace(base, data=replace(base.data, values=10), noise=0.4)}
    )


def measure(config: MinimalConfig, seed: int, runs: Path, advance: Advance) -> Measured:
    """Train, look on the way, evaluate. Seconds, so that nothing is kept in `runs`."""
    start = perf_counter()
    model, rng, looks = Minimal(config, seed), training_rng(seed), []
    for step in range(config.steps + 1):
        if step % config.look_every == 0 or step == config.steps:
            looks.append({"step": step} | scores(model, LOOKS))
            advance(step, config.steps, f"F1 of CE {looks[-1]['f1_expected']:.2f}")
        if step < config.steps:
            batch = config.data.batch(config.batch_size, config.length, rng)
            model.learn(model.posterior(batch.frames, rng))
    over = {name: [look[name] for look in looks] for name in looks[0]}
    return Measured(scores(model, FINAL) | {"curve": over}, perf_counter() - start)


def scores(model: Minimal, stream: int) -> dict[str, Any]:
    """Marks against jumps on fresh sequences; the share of boundaries that CE did not hold at."""
    rng, config = evaluation_rng(stream), model.config
    batch = config.data.batch(SEQUENCES[stream], LENGTH, rng)
    seen = model.watch(model.posterior(batch.frames, rng))
    true, found = batch.changes["value"], seen.boundary
    return {
        "f1": score(found, true).f1,
        "f1_expected": score(seen.expected, true).f1,
        "f1_unexpected": score(seen.unexpected, true).f1,
        "update_rate": float(found[:, 1:].mean()),
        "unexpected_share": float((found & ~seen.expected).sum() / max(found.sum(), 1)),
    }


def draw(results: Results) -> Figure:
    with panels(2, rows=2, width=5.6) as (figure, (learns, share, noisy, against)):
        clean, alone = results.get("both-n0.0", []), results.get(ALONE, [])
        _over(learns, clean, "f1_expected", BOTH, "CE, with CU")
        _over(learns, alone, "f1_expected", CE, "CE, without CU")
        unit(learns, "F1 of CE")
        _over(share, clean, "unexpected_share", BOTH, "CE and CU")
        unit(share, "share unexpected")
        for name, label in KINDS.items():
            _over(noisy, results.get(NOISY, []), name, COLOURS[name], label)
        unit(noisy, "F1")
        _draw_noise(against, results)
        _finish(learns, "(a) noise 0", "training step", "lower right")
        _finish(share, "(b) noise 0", "training step", "upper right")
        _finish(noisy, "(c) noise 0.4", "training step", "lower right")
        _finish(against, "(d) at the end", "posterior noise", "lower left")
    return figure


def _finish(axes: Axes, title: str, across: str, corner: Corner) -> None:
    """Titles, and a legend if there is something to tell."""
    axes.set_title(title)
    axes.set_xlabel(across)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc=corner)


def _over(axes: Axes, runs: list[Result], name: str, colour: str, label: str) -> None:
    if runs:
        draw_band(axes, [curve(run, name) for run in runs], colour, label)


def _draw_noise(axes: Axes, results: Results) -> None:
    """Final F1 of each criterion against the noise, for the noise levels that are there."""
    there = {noise: results[f"both-n{noise}"] for noise in NOISES if f"both-n{noise}" in results}
    for name, label in KINDS.items():
        runs = [np.asarray(_final(each, name)) for each in there.values()]
        if runs:
            means, stds = [r.mean() for r in runs], [float(spread(r)) for r in runs]
            axes.errorbar(
                list(there), means, stds, color=COLOURS[name], label=label, marker="o", capsize=3
            )
    unit(axes, "F1")


def _final(runs: list[Result], name: str) -> list[float]:
    return [run.metrics[name] for run in runs]


def claims(results: Results) -> list[Claim]:
    """Rows of the variants that are there; the paper has no numbers here, only curves."""
    return [
        Claim(
            f"Synthetic, {what}",
            f"{paper} (figure only)",
            _final(results[variant], metric),
            OTHER_SETTINGS.get(variant.split("-")[0], SETTING),
            metric == "unexpected_share",
        )
        for variant, metric, what, paper in OURS
        if variant in results
    ]


EXPERIMENT = Experiment(
    name="synthetic",
    title="Synthetic: F1 of CE and CU in a minimal VPR, over training and against posterior noise",
    cost="about 3 seconds a run",
    variants=variants,
    measure=measure,
    draw=draw,
    claims=claims,
)
