"""Figure 17: events of levels 2 and 3 in sequences of the Miniworld Maze."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image

from vpr.config import RunConfig
from vpr.data import evaluation_rng, unseen
from vpr.data.pictures import as_images, as_png
from vpr.experiments.runner.experiment import (
    Advance,
    Claim,
    Experiment,
    Measured,
    Results,
    Scale,
)
from vpr.experiments.runner.settings import run_config
from vpr.experiments.runner.store import with_seed
from vpr.experiments.runner.training_runs import measure_training, run_folder
from vpr.experiments.shared.levels import level_claims, level_scores
from vpr.experiments.shared.sheets import decode_image
from vpr.pretrained import load_model
from vpr.utils.figures import GREY, LEVEL_COLOURS, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DATASET = "Miniworld Maze"
FACTORS = {2: "hallway", 3: "colour"}
STRIPS, LENGTH, SEED = 4, 40, 2  # scores use evaluation seeds 0 and 1
SIDE = 32  # pixels of a frame in a strip


def variants(scale: Scale) -> dict[str, RunConfig]:
    return {"both": run_config("maze", scale)}


def measure(config: RunConfig, seed: int, runs: Path, advance: Advance) -> Measured:
    """Scores, and strips of frames, stored as images since drawing them again needs miniworld."""
    measured = measure_training(level_scores(FACTORS))(config, seed, runs, advance)
    strips = detect_events(run_folder(with_seed(config, seed), runs), config)
    return measured._replace(metrics=measured.metrics | {"strips": strips})


@torch.no_grad()
def detect_events(folder: Path, config: RunConfig) -> list[dict[str, Any]]:
    """For each sequence a row of frames, the true changes, and the events of each level."""
    batch = unseen(config.data).batch(STRIPS, LENGTH, evaluation_rng(SEED))
    trace = load_model(folder).observe(torch.from_numpy(batch.frames))
    return [
        {
            "frames": _as_text(as_images(batch.frames)[i]),
            "true": {name: _places(batch.changes[name][i]) for name in FACTORS.values()},
            "found": {
                str(level): _places(trace.levels[level - 1].evidence.boundary[i].numpy())
                for level in FACTORS
            },
        }
        for i in range(STRIPS)
    ]


def _places(marks: Any) -> list[int]:
    """Marked frames, without the first frame, which is not an event."""
    return [int(t) for t in np.flatnonzero(marks) if t > 0]


def _as_text(frames: Any) -> str:  # (T, H, W, 3) uint8 → PNG of one row, in base64
    small = [np.asarray(Image.fromarray(frame).resize((SIDE, SIDE))) for frame in frames]
    return b64encode(as_png(np.concatenate(small, 1))).decode()


def draw(results: Results) -> Figure:
    """Sequences of the first run, with true changes and detected events below the frames."""
    strips = next(iter(results.values()))[0].metrics["strips"]
    with panels(1, len(strips), width=15.0, height=1.4) as (figure, axes):
        for strip, each in zip(strips, axes, strict=True):
            _draw_strip(each, strip)
    return figure


def _draw_strip(axes: Axes, strip: dict[str, Any]) -> None:
    row = decode_image(strip["frames"])
    axes.imshow(row, extent=(0, row.shape[1] / SIDE, 0, 1))
    marks = {f"true {name}": (places, GREY) for name, places in strip["true"].items()}
    found = zip(strip["found"].items(), LEVEL_COLOURS, strict=False)
    marks |= {f"level {level}": (places, colour) for (level, places), colour in found}
    for line, (places, colour) in enumerate(marks.values()):
        for place in places:
            axes.barh(-0.2 - 0.36 * line, 0.9, left=place + 0.05, height=0.28, color=colour)
    axes.set_ylim(-0.4 - 0.36 * (len(marks) - 1), 1)
    axes.set_yticks([-0.2 - 0.36 * line for line in range(len(marks))], list(marks), fontsize=10)
    axes.set_xticks([])
    axes.grid(visible=False)
    axes.set_aspect("auto")
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def claims(results: Results) -> list[Claim]:
    """Also within one frame: a corner comes into view gradually."""
    scores = ("f1", "f1_near")
    rows = [level_claims(results, FACTORS, DATASET, "not measured", score) for score in scores]
    return [row for each in rows for row in each]


EXPERIMENT = Experiment(
    name="maze-events",
    paper="figure 17, appendix C.6",
    title="Miniworld Maze: events of levels 2 and 3 in four unseen sequences, and F1",
    cost="one training run of cpu/maze",
    variants=variants,
    measure=measure,
    draw=draw,
    claims=claims,
)
