"""The commands by name, in the order in which `vpr --help` lists them."""

from __future__ import annotations

from vpr.cli import (
    bench,
    data,
    demo,
    evaluate,
    evaluate_boundaries,
    report,
    reproduce,
    rollout,
    sample,
    segment,
    train,
    watch,
)
from vpr.cli.main import Command

COMMANDS: dict[str, Command] = {
    "demo": demo.COMMAND,
    "train": train.COMMAND,
    "segment": segment.COMMAND,
    "watch": watch.COMMAND,
    "evaluate": evaluate.COMMAND,
    "evaluate-boundaries": evaluate_boundaries.COMMAND,
    "report": report.COMMAND,
    "rollout": rollout.COMMAND,
    "sample": sample.COMMAND,
    "data": data.COMMAND,
    "reproduce": reproduce.COMMAND,
    "bench": bench.COMMAND,
}
