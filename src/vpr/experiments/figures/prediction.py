"""Section 4.4: 200 events ahead, level by level, against the events that really follow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from vpr.config import RunConfig
from vpr.evaluation.jumps import advances_by_one, in_order, read_jumps
from vpr.experiments.runner.base import Claim, Experiment, Results
from vpr.experiments.runner.finished import amount, asking
from vpr.experiments.runner.settings import setting
from vpr.experiments.shared.panels import BOTH, OTHERS, curve, draw_band, draw_scores, panels, unit
from vpr.experiments.shared.readers import reader_for, reader_scores, watched, world_of
from vpr.experiments.shared.worlds import HELD, NAMES, worlds
from vpr.model import VPR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JUMPS, SEQUENCES = 200, 64
PAPER = {"colour": "1.0 ± 0.0", "wall": "0.99 ± 0.017", "object": "0.90 ± 0.04"}
INKS = {"colour": OTHERS[1], "wall": BOTH, "object": OTHERS[0]}


def ask(model: VPR, config: RunConfig, folder: Path) -> dict[str, Any]:
    """Each level from 2 on jumps; the share of its events with the right colour, in all and by k.

    `steps` forgives a slip: each event against the one painted before it.
    """
    batch = watched(config, amount(config, SEQUENCES))
    reader, jumps = reader_for(config, folder.parent), amount(config, JUMPS)
    video = torch.from_numpy(batch.frames)
    found: dict[str, Any] = {"reader": reader_scores(reader, model, batch)}
    curves: dict[str, Any] = {"step": list(range(1, jumps + 1))}
    for level, factor in HELD[config.data.name].items():
        if level > 1:
            painted = read_jumps(model, reader, video, level, jumps)[factor]
            last, count = batch.factors[factor][:, -1], world_of(config).counts[factor]
            right = in_order(painted, last, count)
            steps = float(advances_by_one(painted, last, count).mean())
            found[factor] = {"accuracy": float(right.mean()), "steps": steps}
            curves[factor] = right.mean(0).tolist()
    return found | {"curve": curves}


def factors(results: Results) -> dict[str, str]:
    """Of the worlds that are there: factor → world."""
    return {f: world for world in results for level, f in HELD[world].items() if level > 1}


def draw(results: Results) -> Figure:
    found = factors(results)
    with panels(2) as (figure, (over, whole)):
        for factor, world in found.items():
            curves = [curve(run, factor) for run in results[world]]
            draw_band(over, curves, INKS[factor], f"{NAMES[world]}, {factor}")
        over.set_xlabel("events ahead")
        unit(over, "share with the right colour")
        over.legend(loc="lower left")
        groups = {f: [run.metrics[f]["accuracy"] for run in results[w]] for f, w in found.items()}
        draw_scores(whole, groups, [INKS[factor] for factor in groups])
        whole.set_ylabel("accuracy, each run")
    return figure


def claims(results: Results) -> list[Claim]:
    rows = []
    for factor, world in factors(results).items():
        runs, name = results[world], f"{NAMES[world]}, 200 events ahead, {factor}"
        for key, what, paper in (
            ("accuracy", "", PAPER[factor]),
            ("steps", ": each right after the one before", "none"),
        ):
            ours = [run.metrics[factor][key] for run in runs]
            rows.append(Claim(f"{name}{what}", paper, ours, setting(runs)))
        for kind in ("true", "reconstructed"):
            ours = [run.metrics["reader"][kind][factor] for run in runs]
            what = f"{NAMES[world]}, {factor} read off {kind} frames, right"
            rows.append(Claim(what, "none", ours, setting(runs)))
    return rows


EXPERIMENT = Experiment(
    name="prediction",
    title="Moving Ball and 3DSD: 200 events ahead by the jumps of one level, against the truth",
    cost="two minutes a run; models are those of criteria and 3dsd-events",
    variants=worlds,
    measure=asking(ask),
    draw=draw,
    claims=claims,
)
