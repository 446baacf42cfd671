"""Options that several commands share, each declared once."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from vpr.errors import VPRError
from vpr.executors import BACKENDS, Executor
from vpr.executors.executor import Shard

MODEL_HELP = "A run folder, a shipped model or a Hugging Face Hub id, OWNER/NAME[@REVISION]."


def finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


finite.__name__ = "finite number"  # argparse names it in "invalid … value"


def seconds(text: str) -> float:
    """A time such as 10, 10s, 2min or 500ms."""
    units = {"ms": 0.001, "min": 60.0, "s": 1.0}
    unit = next((each for each in units if text.endswith(each)), "")
    return finite(text.removesuffix(unit)) * units.get(unit, 1.0)


def above_zero(text: str) -> float:
    return _checked(finite(text), finite(text) > 0, "must be above 0", text)


above_zero.__name__ = "finite number"


def time_above_zero(text: str) -> float:
    try:
        value = seconds(text)
    except ValueError:
        value = -1.0
    return _checked(value, value > 0, "must be a time above 0, such as 10s", text)


def at_least(least: int) -> Callable[[str], int]:
    """The type of an integer option with a smallest value."""

    def convert(text: str) -> int:
        return _checked(int(text), int(text) >= least, f"must be {least} or more", text)

    convert.__name__ = "int"
    return convert


def folder(text: str) -> Path:
    return _checked(Path(text), not Path(text).is_file(), f"{text} is a file: give a folder")


Value = TypeVar("Value")


def _checked(value: Value, holds: bool, rule: str, text: str | None = None) -> Value:
    """`value` if `holds`; the message of the error continues the name of the option."""
    if not holds:
        raise argparse.ArgumentTypeError(rule if text is None else f"{rule}, got {text}")
    return value


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


numbers.__name__ = "list of numbers"


def shard(text: str) -> Shard:
    return Shard.parse(text)


shard.__name__ = "shard (of the form 3/16)"


def add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=MODEL_HELP)


def add_data(parser: argparse.ArgumentParser) -> None:
    from vpr.data import DATASETS

    shown = f"Dataset: {', '.join(DATASETS)}. [the dataset of the model]"
    parser.add_argument("--data", metavar="NAME", help=shown)
    shown = "Footage, vectors or file, for a dataset that reads files."
    parser.add_argument("--path", metavar="PATH", help=shown)


def add_sequences(
    parser: argparse.ArgumentParser, *, sequences: int, length: int = 50, seed: int
) -> None:
    """`--sequences`, `--length` and `--seed`."""
    add_number(parser, "--sequences", sequences, "Number of sequences.", least=1)
    fewer = f"[{length}, or the length of the recording if that is shorter]"
    shown = f"Frames per sequence. {fewer}"
    parser.add_argument("--length", type=at_least(2), metavar="N", help=shown)
    parser.set_defaults(default_length=length)
    add_number(parser, "--seed", seed, "Random seed.")


def add_threads(parser: argparse.ArgumentParser, default: int, note: str = "") -> None:
    add_number(parser, "--threads", default, f"Number of CPU threads{note}.")


def add_executor(parser: argparse.ArgumentParser, jobs: int) -> None:
    """Where work runs: `--on`, `--jobs` and `--shard`."""
    parser.add_argument(
        "--on",
        choices=BACKENDS,
        default="local",
        help="Run on this machine, on the Ray cluster of RAY_ADDRESS, or as Slurm jobs with the "
        "options in SBATCH_PARTITION, SBATCH_TIMELIMIT, … [local]",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help=f"Number of parallel jobs, one core each. [{jobs}; on a cluster, all it can run]",
    )
    parser.set_defaults(default_jobs=jobs)
    parser.add_argument(
        "--shard",
        type=shard,
        default=Shard(1, 1),
        metavar="K/N",
        help="Process only the K-th of N parts, for scripts that start N commands. [all]",
    )


def chosen_executor(arguments: argparse.Namespace, logs: Path, *, reuse: bool) -> Executor:
    """The executor of `--on` and `--jobs`; Slurm's messages go to a subfolder of `logs`."""
    from vpr.executors import make_executor

    jobs = arguments.jobs
    if jobs is None and arguments.on == "local":
        jobs = arguments.default_jobs
    if jobs is not None:
        at_least_one(jobs=jobs)
    return make_executor(arguments.on, jobs, logs / ".slurm", reuse=reuse)


def add_out_folder(parser: argparse.ArgumentParser, default: Path, what: str) -> None:
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        type=folder,
        default=default,
        help=f"Folder for {what}. [{default}]",
    )


def add_number(
    parser: argparse.ArgumentParser, name: str, default: int, text: str, least: int | None = None
) -> None:
    """An integer option whose help ends with its default."""
    kind = int if least is None else at_least(least)
    parser.add_argument(name, type=kind, metavar="N", default=default, help=f"{text} [{default}]")


def add_footage(parser: argparse.ArgumentParser) -> None:
    """How a model is applied to footage: `--model`, `--threshold`, `--fit` and `--rate`."""
    parser.add_argument("--model", help=f"{MODEL_HELP} [footage]")
    parser.add_argument(
        "--threshold",
        type=above_zero,
        metavar="X",
        help="γ: D_st above X times its typical value is an unexpected event. Higher values give "
        "fewer events. [γ of the model]",
    )
    parser.add_argument(
        "--fit",
        choices=("letterbox", "crop", "stretch"),
        help="How to fit footage with another aspect ratio. [as in training, or letterbox]",
    )
    parser.add_argument(
        "--rate", metavar="FPS", help="Frames per second of footage without times. [25]"
    )


def at_least_one(**values: int) -> None:
    """Raise an error if an option is below 1."""
    for name, value in values.items():
        if value < 1:
            raise VPRError(f"{name} must be 1 or more, got {value}")
