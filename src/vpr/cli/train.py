"""`vpr train PRESET`: train a model; an existing run folder is resumed."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from vpr.cli.config_flags import add_config_flags, apply_flags, changed_fields, value_of
from vpr.cli.model_and_data import prepare
from vpr.cli.options import add_threads
from vpr.cli.show import print_json, print_message, print_table, progress_bar, progress_bars
from vpr.config import RunConfig
from vpr.data import Vectors, Video, unseen
from vpr.data.base import Recorded, max_length
from vpr.errors import VPRError
from vpr.presets import PRESETS, preset
from vpr.training.additions import ADDITIONS, without
from vpr.training.distributed import STRATEGIES
from vpr.training.stages import Stage
from vpr.utils.config_json import to_dict

if TYPE_CHECKING:
    from vpr.training.loop import Progress

HELD_OUT_SEQUENCES = 64  # for the held-out ELBO
COMMON_OPTIONS = (  # fields that --help shows; --help-all shows all
    *("seed", "data", "model.levels", "training.steps", "training.batch_size"),
    *("training.length", "training.learning_rate"),
)


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    named = words[0] if words and not words[0].startswith("-") else None
    chosen = preset(named) if named is not None else _run_of(value_of("--out", words))
    shown = f"Preset: {', '.join(PRESETS)}. Can be left out to resume or extend the run in --out."
    parser.add_argument("preset", metavar="PRESET", nargs="?", help=shown)
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="Run folder. [runs/PRESET-sSEED]"
    )
    add_threads(parser, 1)
    devices = ("cpu", "cuda", "mps", "auto")
    parser.add_argument("--accelerator", default="cpu", choices=devices, help="Device. [cpu]")
    for name, what in (
        ("--devices", "Number of processes per machine"),
        ("--nodes", "Number of machines"),
    ):
        shown = f"{what}. [1, or the number that torchrun started]"
        parser.add_argument(name, type=int, metavar="N", help=shown)
    parser.add_argument(
        "--strategy",
        default="auto",
        choices=STRATEGIES,
        help="How several devices share a batch: each takes a part, and gradients are averaged "
        "(ddp). [auto]",
    )
    parser.usage = "vpr train [PRESET] [--out FOLDER] [--FIELD VALUE …]"
    parser.add_argument(
        "--until",
        type=int,
        metavar="N",
        help="Save a checkpoint and stop after this step.",
    )
    parser.add_argument(
        "--without",
        metavar="NAME",
        action="append",
        default=[],
        help="Remove one of our additions to the paper's training; can be repeated. "
        f"NAME: {', '.join(each.name for each in ADDITIONS)}.",
    )
    parser.add_argument("--show", action="store_true", help="Print the stages and exit.")
    parser.add_argument("--help-all", action="help", help="Show all options, and exit.")
    defaults = (
        "Give a PRESET to see its defaults: vpr train PRESET --help."
        if chosen is None
        else "The values in brackets are its defaults."
    )
    parser.epilog = f"{defaults} --help-all lists all fields."

    def is_shown(name: str) -> bool:
        of_data = chosen is not None and name.startswith("data.")
        return name in COMMON_OPTIONS or of_data or "--help-all" in words

    add_config_flags(parser, chosen or RunConfig(), words, is_shown=is_shown)


def _run_of(out: str | None) -> RunConfig | None:
    """The configuration of the run in this folder, if there is one."""
    from vpr.training.checkpoint import RunFolder

    return RunFolder(out).config() if out is not None and RunFolder(out).exists() else None


class TrainingBar:
    """Shows training metrics beside the progress bar."""

    def __init__(self, title: str, advance: Callable[[int, int, int, str], None]) -> None:
        self.title, self.advance = title, advance
        self.start, self.first = perf_counter(), 0

    def __call__(self, now: Progress) -> None:
        if not self.first:
            self.start, self.first = perf_counter(), now.step
            done_before = f", resuming from step {now.step - 1}" if now.step > 1 else ""
            print_message(self.title + done_before)
        done = now.step - self.first
        rate = done / (perf_counter() - self.start) if done else 0.0
        kls = " ".join(f"{value:.1f}" for value in now.kl)
        rates = " ".join(f"{value:.2f}" for value in now.update_rate)
        note = f"{now.stage}: loss {now.loss:.1f}, kl {kls}, updates {rates}, {rate:.1f}/s"
        self.advance(0, now.step, now.steps, note)


def run(arguments: argparse.Namespace) -> int:
    from vpr.training.distributed import default_devices, default_nodes, is_main_process
    from vpr.training.loop import train
    from vpr.utils.threads import use_threads

    base = _run_of(arguments.out) if arguments.preset is None else preset(arguments.preset)
    if base is None and arguments.out is not None:
        raise VPRError(f"{arguments.out} is not a run: give a PRESET to start one")
    if base is None:
        raise VPRError("give a PRESET, or with --out the run to resume; see vpr train --help")
    given = {name: value for name, value in vars(arguments).items() if name != "preset"}
    config = without(configured(base, given), sorted(set(arguments.without)))
    if arguments.show:
        return _show(config, arguments.json)
    out: Path = arguments.out or Path("runs") / _name(config, arguments.without)
    use_threads(arguments.threads)
    prepare(config.data, "--data.path")
    with progress_bars([""]) as advance:
        bar = TrainingBar(f"Training {config.preset} in {out}", advance)
        outcome = train(
            config,
            out,
            on_step=bar,
            until=arguments.until,
            accelerator=arguments.accelerator,
            devices=default_devices() if arguments.devices is None else arguments.devices,
            nodes=default_nodes() if arguments.nodes is None else arguments.nodes,
            strategy=arguments.strategy,
        )
    if not is_main_process():
        return 0
    held_out = _held_out(config, out) if outcome.finished else {}
    if arguments.json:
        print_json({"run": str(out)} | outcome._asdict() | held_out)
    elif outcome.finished:
        print_message(f"Done: {out}. Next: {_next(config, out)}")
    else:
        print_message(f"Stopped at step {outcome.step}; run the same command again to resume.")
    return 130 if outcome.interrupted else 0


def _next(config: RunConfig, out: Path) -> str:
    """The command that shows what the model does: without labels there is nothing to score."""
    if isinstance(config.data, Video):
        footage = config.data.path.split(os.pathsep)
        return shlex.join(["vpr", "segment", *footage, "--model", str(out)])
    command = "report" if isinstance(config.data, Vectors) else "evaluate"
    return shlex.join(["vpr", command, str(out)])


def configured(config: RunConfig, given: dict[str, Any]) -> RunConfig:
    """The configuration with the options that were given.

    By default, model.frame and, if the data has levels, model.levels are taken from the data.
    """
    data = changed_fields(config, given)["data"]
    follows = {"model.frame": data.frame}
    if hasattr(data, "levels"):
        follows["model.levels"] = data.levels
    return apply_flags(config, follows | given)


def _name(config: RunConfig, left_out: Sequence[str]) -> str:
    """The default name of the run folder."""
    parts = [
        config.preset.replace("/", "-"),
        *(f"without-{name}" for name in sorted(set(left_out))),
    ]
    return "-".join([*parts, f"s{config.seed}"])


def _show(config: RunConfig, as_json: bool) -> int:
    """Print the stages, one line each."""
    total = config.training.steps
    if as_json:
        print_json({"steps": total, "stages": [to_dict(stage) for stage in config.stages]})
        return 0
    rows = [
        [
            stage.name,
            f"{'≤ ' if stage.until_explained < 1 else ''}{stage.share * total:,.0f}",
            _betas(stage, config.model.levels),
            ", ".join(stage.criteria) or "none",
            f"{stage.random_updates:.0%}",
            ", ".join(stage.objectives) or "none",
        ]
        for stage in config.stages
    ]
    columns = [
        "stage",
        "steps",
        f"β of levels 1 to {config.model.levels}",
        "criteria",
        "random updates",
        "objectives",
    ]
    print_table(f"{config.preset}: {total:,} steps", columns, rows)
    return 0


def _betas(stage: Stage, levels: int) -> str:
    """β of each level at the start and, if it changes, at the end of a stage."""
    start, end = (
        ", ".join(f"{stage.beta_at(progress, level + 1):.2g}" for level in range(levels))
        for progress in (0.0, 1.0)
    )
    return start if start == end else f"{start} → {end}"


def _held_out(config: RunConfig, out: Path) -> dict[str, dict[str, Any]]:
    """The ELBO on held-out data, if the data is a recording."""
    if not isinstance(config.data, Recorded):
        return {}
    from vpr.evaluation import evaluate
    from vpr.pretrained import load_model

    try:
        most = max_length(unseen(config.data)) or 0
        length = min(most, config.training.length) if most > 1 else config.training.length
        with progress_bar(HELD_OUT_SEQUENCES) as advance:
            result = evaluate(
                load_model(out),
                config.data,
                sequences=HELD_OUT_SEQUENCES,
                length=length,
                on_progress=lambda done: advance(done, "held-out sequences"),
            )
    except VPRError as error:  # the run is complete without it
        print_message(f"No held-out ELBO: {error}")
        return {}
    print_message(f"Held-out ELBO {result['elbo']:.1f} nats per frame.")
    return {"held_out": {key: result[key] for key in ("elbo", "reconstruction", "kl")}}
