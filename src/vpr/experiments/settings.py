"""The run of a scale: a preset, or one of seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vpr.config import Data, RunConfig
from vpr.data import BouncingBalls, MiniworldMaze, MovingBall, Video
from vpr.experiments.base import Result, Scale
from vpr.presets import preset
from vpr.schedule import Staged

LAYERS = 4  # in the paper
STAGED = "smaller image network, staged schedule with random updates at first, root mean in CU"
TWO = f"{STAGED}, loss weights (β 1 and 4, reconstruction 1/16), learning rate"
BALL = f"{TWO}, about 2,000 steps"
SHAPES = (
    f"{STAGED}, sequences of 12 and 25 frames (50), loss weights (β 1, 4 and 8, reconstruction 1/4)"
)
SETTINGS = {
    "cpu/moving-ball": BALL,
    "cpu/moving-ball-slow": BALL,
    "cpu/bouncing-balls": (
        f"|s| 40 (60), |x| 200 (1024), two balls of ours, {TWO}, "
        "7,000 to 8,000 steps, most on 3 frames (15)"
    ),
    "cpu/3dsd": (
        f"{SHAPES}, rent until features are sorted (none), about 2,550 steps, then 1,200 on 1,600 "
        "frames in 32 parts with recognition and foresight (none)"
    ),
    "cpu/maze": f"a colour stays for 2 or 3 hallways (1), {SHAPES}, about 3,100 steps",
    "cpu/video": (
        "footage of one's own, smaller image network, staged schedule with random updates at first "
        "and a top level that is held, root of the mean square in CU, τ_w 400 (100), sequences of "
        "20 and 25 frames (50), loss weights (β 1, 4 and 16, reconstruction 1/4, rent 0.1, "
        "recognition 2), about 3,650 steps"
    ),
    "tiny": "a run of seconds, which measures nothing",
    "paper": "the paper's numbers",
}


def run_of(name: str, scale: Scale) -> RunConfig:
    """The preset `SCALE/NAME`; at scale tiny, one of seconds."""
    if scale != "tiny":
        return preset(f"{scale}/{name}")
    return _tiny(preset(f"cpu/{name}"))


def _tiny(config: RunConfig) -> RunConfig:
    data = _little(config.data)
    return replace(
        config,
        preset=config.preset.replace("cpu/", "tiny/"),
        model=replace(config.model, frame=data.frame, width=12, state_size=3, channels=4),
        data=data,
        training=replace(
            config.training,
            steps=60,
            batch_size=3,
            length=5,
            decay_steps=40,
            long_parts=min(config.training.long_parts, 2),
            rehearsal_steps=min(config.training.rehearsal_steps, 2),
            rehearsal_sequences=3,
            rehearsal_parts=2,
            checkpoint_every=4,
        ),
        schedule=Staged(
            settle_window=1,
            settle_after=0,
            settle_tolerance=0.99,
            level_one_steps=2,
            upper_steps=2,
            shift_steps=4,
            squeeze_steps=1,
        ),
    )


def _little(data: Data) -> Data:
    if isinstance(data, MovingBall | BouncingBalls):
        return replace(data, size=16)
    if isinstance(data, MiniworldMaze):
        return replace(data, walks=3, unseen_walks=2, frames=120)
    if isinstance(data, Video):
        return replace(data, size=(16, 16), held_out=0.3)
    return data


def setting(runs: Sequence[Result]) -> str:
    """What differs from the paper, for the table."""
    name: str = runs[0].config["preset"]
    layers = runs[0].config["model"].get("layers", LAYERS)  # older runs had no choice
    fewer = f"{layers} layers in each network ({LAYERS}), " if layers != LAYERS else ""
    differs = SETTINGS.get(name) or SETTINGS[name.split("/")[0]]
    return f"{name}: {fewer}{differs}{_last_stage(name, runs[0].config.get('training', {}))}"


def _last_stage(name: str, training: dict[str, Any]) -> str:
    """What only some of a preset's runs have, or have last."""
    if name == "cpu/moving-ball" and training.get("landing_steps"):
        return f", then {training['long_steps']} more, at the end of which the rate falls to 0"
    if name != "cpu/3dsd":
        return ""
    fresh, stale = (training.get(each, 0.0) for each in ("long_fresh", "stale"))
    begun = f", {fresh:.0%} of the sequences begun anew with every part" if fresh else ""
    read = f", {stale:.0%} of the updates of levels 2 and 3 stale (none)" if stale else ""
    return f"{begun}{read}, rehearsal of level 3 (none)"
