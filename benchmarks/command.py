"""`vpr bench KIND`: options, and what runs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from benchmarks.tables import SHOW
from vpr.cli.config_flags import add_config_flags, apply_flags
from vpr.cli.model_and_data import prepare
from vpr.cli.options import add_number, add_threads, at_least_one
from vpr.cli.show import print_json, progress_bar
from vpr.presets import PRESETS, preset

DESCRIPTION = """\
Measure speed as ratios of alternatives that are run in turns. Times are medians, without a first
round.

  train   A training step, compared with the image network alone (the lower limit, which decodes as
          many frames as the step), the same network with stock PyTorch layers, and a naive
          implementation of the hierarchy; also the share of the peak performance of this machine,
          and the memory of training.
  stream  One frame at a time on one thread: the encoder, a frame without an event, a frame at which
          every level updates, for 1 to 6 levels; also speed and memory of a long stream.
  rollout 200 predictions of the top level with decoded frames, compared with decoding alone, on one
          thread, for 1 and for 16 sequences.
  data    Making a training batch, compared with a training step.
  segment Footage to files on one core, compared with the content detector of PySceneDetect, for the
          given files or a generated minute; also the shares of decoding and model, and the memory
          of an hour compared with a minute.
  scaling CPU time of segmentation per frame and per event of each level, and of whole segmentations
          in 1, 2 and 4 processes compared with their sum.
  baselines
          A training step of VPR, VTA and CW-VAE on the same frames, with the image network of the
          preset; also of VTA with its published image network.
  learn   CPU time of training until the F1 of every level above the first is 0.95, evaluated every
          --every steps, which does not count. --repeats does not apply.

Ratios depend less on the load of the machine than times; more --repeats make both more precise.
"""
DEFAULT = "cpu/moving-ball"


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = DESCRIPTION
    parser.usage = (
        "vpr bench {train,stream,rollout,data,baselines,learn} [--preset PRESET] "
        "[--FIELD VALUE …]\n"
        "       vpr bench segment [FILE …] [--model MODEL]\n"
        "       vpr bench scaling [--model MODEL]"
    )
    parser.epilog = "The values in brackets are the defaults of the preset."
    parser.add_argument("kind", metavar="KIND", choices=SHOW, help=", ".join(SHOW))
    kind = next((word for word in words if word in SHOW), None)
    if kind == "segment":
        return _declare_segment(parser)
    if kind == "scaling":
        return _declare_scaling(parser)
    parser.add_argument("--preset", default=DEFAULT, help=f"Preset to measure. [{DEFAULT}]")
    add_number(parser, "--repeats", 20, "Number of rounds.")
    if kind in (None, "stream"):
        add_number(parser, "--frames", 100_000, "Frames of the long stream, for KIND stream.")
    if kind in (None, "learn"):
        add_number(parser, "--every", 25, "Steps between two evaluations, for KIND learn.")
    if kind in ("stream", "rollout", "learn"):
        parser.set_defaults(threads=1)
    else:
        add_threads(parser, 2, ", for KIND train, data and baselines")
    named = [word.removeprefix("--preset=") for word in words]
    chosen = next((PRESETS[word] for word in named if word in PRESETS), PRESETS[DEFAULT])
    add_config_flags(parser, chosen, words)


def _declare_segment(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="*", help="Footage. [a generated minute]")
    parser.add_argument("--model", default="moving-ball", help="Model. [moving-ball]")
    add_number(parser, "--repeats", 5, "Number of rounds.")
    add_number(parser, "--minutes", 60, "Length of the long footage.")
    parser.set_defaults(threads=1)


def _declare_scaling(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="moving-ball", help="Model. [moving-ball]")
    add_number(parser, "--repeats", 5, "Number of rounds.")
    parser.set_defaults(threads=1)


def run(arguments: argparse.Namespace) -> int:
    numbers = ("repeats", "frames", "minutes", "every")
    at_least_one(**{name: getattr(arguments, name) for name in numbers if name in arguments})
    result = _measure(arguments)
    if arguments.json:
        print_json(result)
    else:
        SHOW[arguments.kind](result)
    return 0


def _measure(arguments: argparse.Namespace) -> dict[str, Any]:
    from benchmarks.baselines import bench_baselines
    from benchmarks.data import bench_data
    from benchmarks.learn import bench_learn
    from benchmarks.rollout import bench_rollout
    from benchmarks.scaling import bench_scaling
    from benchmarks.segment import bench_segment
    from benchmarks.stream import bench_stream
    from benchmarks.train import bench_train
    from vpr.utils.threads import use_threads

    kind, repeats = arguments.kind, arguments.repeats
    use_threads(arguments.threads)
    if kind == "segment":
        files, minutes = arguments.files, arguments.minutes
        return bench_segment(files, arguments.model, repeats, minutes, progress_bar)
    if kind == "scaling":
        return bench_scaling(arguments.model, repeats, progress_bar)
    config = apply_flags(preset(arguments.preset), vars(arguments))
    if kind == "stream":
        return bench_stream(config, repeats, arguments.frames, progress_bar)
    if kind == "data":
        prepare(config.data)  # rendering is not part of the cost of a batch
    if kind == "learn":
        prepare(config.data)
        return bench_learn(config, arguments.every, progress_bar)
    others = {
        "train": bench_train,
        "rollout": bench_rollout,
        "data": bench_data,
        "baselines": bench_baselines,
    }
    return others[kind](config, repeats, progress_bar)
