"""Configurations of runs at each scale, and descriptions of how they differ from the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace

from vpr.config import Data, RunConfig, TrainingConfig
from vpr.data import BouncingBalls, MiniworldMaze, MovingBall, Video
from vpr.experiments.runner.experiment import Result, Scale
from vpr.presets import PRESETS, preset
from vpr.training.additions import additions_of
from vpr.utils.config_json import from_dict

REFERENCE = "paper/3dsd"  # reference for datasets that are not in the paper
DATA_NOTES = {
    "bouncing-balls": "our own version of the dataset",
    "nested-world": "dataset not in the paper",
    "video": "footage not in the paper",
}


def run_config(name: str, scale: Scale) -> RunConfig:
    """The preset `SCALE/NAME`; at scale tiny, `cpu/NAME` reduced to seconds of training."""
    if scale != "tiny":
        return preset(f"{scale}/{name}")
    return _tiny(preset(f"cpu/{name}"))


def single_run(name: str) -> Callable[[Scale], dict[str, RunConfig]]:
    """The `variants` of an experiment on one preset, with both criteria."""
    return lambda scale: {"both": run_config(name, scale)}


def scaled_count(config: RunConfig, count: int) -> int:
    """`count`, or a fiftieth of it at scale tiny."""
    return max(count // 50, 2) if config.preset.startswith("tiny/") else count


def _tiny(config: RunConfig) -> RunConfig:
    """A small model, 40 steps, all stages."""
    data = small_data(config.data)
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


def small_data(data: Data) -> Data:
    """The data of scale tiny."""
    if isinstance(data, MovingBall | BouncingBalls):
        return replace(data, size=16)
    if isinstance(data, MiniworldMaze):
        return replace(data, walks=3, unseen_walks=2, frames=120)
    if isinstance(data, Video):
        return replace(data, size=(16, 16), held_out=0.3)
    return data


def describe(runs: Sequence[Result]) -> str:
    """The preset and its differences from the paper, for a footnote."""
    return describe_config(from_dict(RunConfig, runs[0].config, "config"))


def describe_config(config: RunConfig) -> str:
    if config.preset.startswith("tiny/"):
        return f"{config.preset}: not a measurement, only checks that everything runs"
    return f"{config.preset}: {', '.join(differences(config)) or 'as in the paper'}"


def differences(config: RunConfig) -> list[str]:
    """The differences from the paper, with the value of the paper in parentheses."""
    name = config.preset.split("/")[-1]
    paper = PRESETS.get(f"paper/{name}", PRESETS[REFERENCE])
    found = []
    if name in DATA_NOTES and not config.preset.startswith("paper/"):
        found.append(DATA_NOTES[name])
    if type(config.data) is type(paper.data):
        found += _data_differences(config.data, paper.data)
    return [*found, *_model_differences(config, paper), *_training_differences(config, paper)]


def _data_differences(ours: Data, theirs: Data) -> Iterator[str]:
    for field in fields(theirs):
        mine, other = getattr(ours, field.name), getattr(theirs, field.name)
        if mine != other:
            yield f"{field.name.replace('_', ' ')} {mine} ({other})"


def _model_differences(config: RunConfig, paper: RunConfig) -> Iterator[str]:
    ours, theirs = config.model, paper.model
    if ours.network != theirs.network:
        yield "smaller image network"
    if ours.layers != theirs.layers:
        yield f"{ours.layers} layers in each network ({theirs.layers})"
    for name in ("state_size", "width"):
        if getattr(ours, name) != getattr(theirs, name):
            yield f"{name.replace('_', ' ')} {getattr(ours, name)} ({getattr(theirs, name)})"


def _training_differences(config: RunConfig, paper: RunConfig) -> Iterator[str]:
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
