"""The commands by name, in the order in which `vpr --help` lists them."""

from __future__ import annotations

from vpr.cli import bench, data, demo, evaluate, report, reproduce, rollout, sample, segment, train
from vpr.cli.main import Command

COMMANDS: dict[str, Command] = {
    "demo": demo.COMMAND,
    "train": train.COMMAND,
    "evaluate": evaluate.COMMAND,
    "segment": segment.COMMAND,
    "report": report.COMMAND,
    "rollout": rollout.COMMAND,
    "sample": sample.COMMAND,
    "data": data.COMMAND,
    "reproduce": reproduce.COMMAND,
    "bench": bench.COMMAND,
}
