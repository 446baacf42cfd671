"""The run of a scale: a preset, or one of seconds; and how a run differs from the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace

from vpr.config import Data, RunConfig, TrainingConfig
from vpr.data import BouncingBalls, MiniworldMaze, MovingBall, Video
from vpr.experiments.runner.base import Result, Scale
from vpr.presets import PRESETS, preset
from vpr.training.additions import additions_of
from vpr.utils.config_json import from_dict

CLOSEST = "paper/3dsd"  # what data is compared with that the paper does not have
DATA = {
    "bouncing-balls": "two balls of our own",
    "nested-world": "data that the paper does not have",
    "video": "footage that the paper does not have",
}


def run_of(name: str, scale: Scale) -> RunConfig:
    """The preset `SCALE/NAME`; at scale tiny, one of seconds."""
    if scale != "tiny":
        return preset(f"{scale}/{name}")
    return _tiny(preset(f"cpu/{name}"))


def _tiny(config: RunConfig) -> RunConfig:
    """A run of 40 steps, through all stages."""
    data = _little(config.data)
    training = replace(
        config.training, steps=40, batch_size=3, length=5, warmup_steps=4, checkpoint_every=4
    )
    return replace(
        config,
        preset=config.preset.replace("cpu/", "tiny/"),
        model=replace(config.model, frame=data.frame, width=12, state_size=3, channels=4),
        data=data,
        training=training,
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
    config = from_dict(RunConfig, runs[0].config, "config")
    if config.preset.startswith("tiny/"):
        return f"{config.preset}: a run of seconds, which measures nothing"
    return f"{config.preset}: {', '.join(differences(config)) or 'as in the paper'}"


def differences(config: RunConfig) -> list[str]:
    """Each difference from the paper in a few words; in brackets what the paper has."""
    name = config.preset.split("/")[-1]
    paper = PRESETS.get(f"paper/{name}", PRESETS[CLOSEST])
    found = [DATA[name]] if name in DATA and not config.preset.startswith("paper/") else []
    if type(config.data) is type(paper.data):
        found += _of_data(config.data, paper.data)
    return [*found, *_of_model(config, paper), *_of_training(config, paper)]


def _of_data(ours: Data, theirs: Data) -> Iterator[str]:
    for field in fields(theirs):
        mine, other = getattr(ours, field.name), getattr(theirs, field.name)
        if mine != other:
            yield f"{field.name.replace('_', ' ')} {mine} ({other})"


def _of_model(config: RunConfig, paper: RunConfig) -> Iterator[str]:
    ours, theirs = config.model, paper.model
    if ours.network != theirs.network:
        yield "smaller image network"
    if ours.layers != theirs.layers:
        yield f"{ours.layers} layers in each network ({theirs.layers})"
    for field, symbol in (("state_size", "state size"), ("width", "width")):
        if getattr(ours, field) != getattr(theirs, field):
            yield f"{symbol} {getattr(ours, field)} ({getattr(theirs, field)})"


def _of_training(config: RunConfig, paper: RunConfig) -> Iterator[str]:
    ours, theirs = config.training, paper.training
    if added := additions_of(config):
        yield "our recipe with " + " and ".join(
            part for part in (", ".join(a.name for a in added[:-1]), added[-1].name) if part
        )
    if ours.kl_balancing != theirs.kl_balancing:
        yield "no KL balancing" if theirs.kl_balancing else "KL balancing"
    if _rates(ours) != _rates(theirs):
        yield f"learning rate {_rates(ours)} ({_rates(theirs)})"
    if ours.batch_size != theirs.batch_size:
        yield f"batches of {ours.batch_size} ({theirs.batch_size})"
    if ours.length != theirs.length:
        yield f"sequences of {ours.length} frames ({theirs.length})"
    if ours.steps != theirs.steps:
        yield f"at most {ours.steps:,} steps ({theirs.steps:,})"


def _rates(training: TrainingConfig) -> str:
    return f"{training.learning_rate:g} to {training.final_learning_rate:g}"
