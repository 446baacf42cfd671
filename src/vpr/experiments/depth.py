"""Beyond the paper: Moving Ball with two and with four layers in each dense network.

Two is the preset. Four is older, and has not its last 150 steps (`without_landing`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter

from vpr.checkpoint import load_model
from vpr.config import RunConfig
from vpr.experiments import prediction
from vpr.experiments.ball import Appearance, ball, draw_training, scores
from vpr.experiments.base import Advance, Claim, Experiment, Measured, Results, Scale
from vpr.experiments.figures import BOTH, OTHERS
from vpr.experiments.settings import run_of, setting
from vpr.experiments.store import seeded
from vpr.experiments.trained import finish

APPEARANCES = {
    "two": Appearance("two layers", OTHERS[1]),
    "four": Appearance("four layers", BOTH),
}
PAPER = {"f1": "0.97 ± 0.03", "jumps": "1.0 ± 0.0"}
TITLES = {"f1": "level-2 F1", "jumps": "200 events ahead, right"}


def variants(scale: Scale) -> dict[str, RunConfig]:
    """The preset, and what it was with four layers; at the paper's scale two, and its own four."""
    two = run_of("moving-ball", scale)
    return {"two": replace(two, model=replace(two.model, layers=2)), "four": ball(scale)}


def measure(config: RunConfig, seed: int, runs: Path, advance: Advance) -> Measured:
    """The scores of the run, and how well level 2 jumps 200 events ahead."""
    config = seeded(config, seed)
    record, folder = finish(config, runs, advance)
    start = perf_counter()
    jumps = prediction.ask(load_model(folder), config, folder)["colour"]["accuracy"]
    return Measured(scores(record) | {"jumps": jumps}, record["seconds"] + perf_counter() - start)


def claims(results: Results) -> list[Claim]:
    return [
        Claim(
            f"Moving Ball, {APPEARANCES[name].label}: {title}",
            PAPER[key],
            [run.metrics[key] for run in runs],
            setting(runs),
        )
        for name, runs in results.items()
        for key, title in TITLES.items()
    ]


EXPERIMENT = Experiment(
    name="depth",
    title="Moving Ball: F1 of level 2 over training with two and with four layers in each network",
    cost="about ten minutes a run; four is that of criteria",
    variants=variants,
    measure=measure,
    draw=partial(draw_training, appearances=APPEARANCES),
    claims=claims,
)
