"""Figure 12: which level represents the colour if level 2 updates at fixed intervals."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from vpr.config import RunConfig
from vpr.evaluation.generated_factors import swaps
from vpr.experiments.runner.experiment import Claim, Experiment, Results, Scale, Statement
from vpr.experiments.runner.result_metrics import metric
from vpr.experiments.runner.settings import describe, run_config
from vpr.experiments.runner.training_runs import measure_model
from vpr.experiments.runner.verdicts import above, at_least
from vpr.experiments.shared.readers import SEED, evaluation_batch, reader_for, reader_scores
from vpr.experiments.shared.sheets import draw_first_sheets, encode_sheet
from vpr.generation.rollout_film import rollout_film
from vpr.model import VPR

INTERVALS = (2, 4, 6, 8)
TITLES = {"vpr": "subjective timescale"} | {
    f"every-{n}": f"level 2 every {n} frames" for n in INTERVALS
}
OBSERVED = 25  # frames: level 2 updates at the last one, whatever its interval
STEPS, SEQUENCES = 12, 256
FACTOR, LEVELS = "colour", (1, 2)


def variants(scale: Scale) -> dict[str, RunConfig]:
    vpr = run_config("moving-ball", scale)
    clocks = {
        f"every-{n}": replace(vpr, model=replace(vpr.model, rule="clockwork", intervals=(1, n)))
        for n in INTERVALS
    }
    return {"vpr": vpr} | clocks


def evaluate(model: VPR, config: RunConfig, folder: Path) -> dict[str, Any]:
    """The sheet of one sequence, and how the decoded colour depends on the state of each level."""
    film = rollout_film(model, config.data, LEVELS, steps=STEPS, frames=OBSERVED, seed=SEED)
    batch = evaluation_batch(config, SEQUENCES, OBSERVED)
    reader = reader_for(config, folder.parent)
    video, true = torch.from_numpy(batch.frames), {FACTOR: batch.factors[FACTOR][:, -1]}
    return {
        "sheet": encode_sheet(film),
        "facts": film.facts,
        "reader": reader_scores(reader, model, batch),
        "swaps": {
            str(level): swaps(model, reader, video, true, level)[FACTOR]._asdict()
            for level in LEVELS
        },
    }


def claims(results: Results) -> list[Claim]:
    rows = []
    for name, runs in results.items():
        papers = ("entirely", "no") if name == "vpr" else ("not entirely", "in part")
        for level, paper in zip(("2", "1"), papers, strict=True):
            what = f"Moving Ball, {TITLES[name]}: colour follows the state of level {level}"
            ours = metric(runs, "swaps", level, "follows")
            rows.append(Claim(what, f"{paper} (figure only)", ours, describe(runs)))
    return rows


def statements(results: Results) -> list[Statement]:
    """Level 2 has the colour with VPR, and less of it with fixed intervals."""
    if "vpr" not in results:
        return []
    vpr = metric(results["vpr"], "swaps", "2", "follows")
    text = "Moving Ball: level 2 of VPR represents the colour"
    return [at_least(text, vpr, 0.9)] + [
        above(f"{text} more than {TITLES[name]}", vpr, metric(runs, "swaps", "2", "follows"))
        for name, runs in results.items()
        if name != "vpr"
    ]


EXPERIMENT = Experiment(
    name="fixed-interval",
    paper="figure 12, appendix C.2",
    title="Moving Ball: rollouts of each level, level 2 updates by the criteria or at intervals",
    cost="one training run of cpu/moving-ball; vpr is shared with criteria",
    variants=variants,
    measure=measure_model(evaluate),
    draw=partial(draw_first_sheets, titles=TITLES),
    claims=claims,
    statements=statements,
)
