"""`vpr bench KIND`: how fast it is, beside what bounds it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from vpr.cli.flags import add_config_flags, apply_flags
from vpr.cli.main import Command
from vpr.cli.show import prepare, print_json, print_table, progress_bar
from vpr.config import RunConfig
from vpr.errors import VPRError
from vpr.presets import PRESETS, preset

DESCRIPTION = """\
Measure speed as ratios, side by side in one run: the contenders take turns, a first round does not
count, and every time is a median.

  train   A training step beside our image network alone (what is left when the hierarchy costs
          nothing), the same network of stock PyTorch layers, and the hierarchy written naively;
          with the share of this machine's peak and the memory of training.
  stream  One frame at a time on one thread: the encoder, a frame at which nothing happens, a frame
          at which every level updates, for 1 to 6 levels; and a long stream's speed and memory.
  rollout 200 jumps of the top level with their frames beside decoding alone, on one thread, for one
          sequence and for 16 at once.
  data    Making a training batch beside learning from it.
  segment Footage to events and files on one core, beside PySceneDetect's content detector, for the
          files that are named or a minute made for it; where the time goes; and the memory that an
          hour takes beyond a minute.

On a busy machine the seconds grow more than the ratios; more --repeats make both steadier.
"""
DEFAULT = "cpu/moving-ball"


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = DESCRIPTION
    parser.usage = (
        "vpr bench {train,stream,rollout,data} [--preset PRESET] [--FIELD VALUE …]\n"
        "       vpr bench segment [FILE …] [--model MODEL]"
    )
    parser.epilog = "The values in brackets are those of the preset."
    parser.add_argument("kind", metavar="KIND", choices=RUN, help=", ".join(RUN))
    kind = next((word for word in words if word in RUN), None)
    if kind == "segment":
        return _declare_segment(parser)
    parser.add_argument("--preset", default=DEFAULT, help=f"What to measure. [{DEFAULT}]")
    parser.add_argument("--repeats", type=int, default=20, help="Rounds that count. [20]")
    if kind in (None, "stream"):
        shown = "Frames of the long stream; for stream. [100000]"
        parser.add_argument("--frames", type=int, default=100_000, help=shown)
    if kind not in ("stream", "rollout"):
        shown = "CPU threads; stream and rollout have one. [2]"
        parser.add_argument("--threads", type=int, default=2, help=shown)
    named = [word.removeprefix("--preset=") for word in words]
    chosen = next((PRESETS[word] for word in named if word in PRESETS), PRESETS[DEFAULT])
    add_config_flags(parser, chosen, words)


def _declare_segment(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="*", help="Footage; or a minute is made.")
    parser.add_argument("--model", default="moving-ball", help="Who watches. [moving-ball]")
    parser.add_argument("--repeats", type=int, default=5, help="Rounds that count. [5]")
    parser.add_argument("--minutes", type=int, default=60, help="Of the long footage. [60]")


def run(arguments: argparse.Namespace) -> int:
    if arguments.repeats < 1:
        raise VPRError(f"repeats must be 1 or more, got {arguments.repeats}")
    measure, show = RUN[arguments.kind]
    of_footage = arguments.kind == "segment"
    config = RunConfig() if of_footage else apply_flags(preset(arguments.preset), vars(arguments))
    result = measure(config, arguments)
    if arguments.json:
        print_json(result)
    else:
        show(result)
    return 0


def _train(config: RunConfig, arguments: argparse.Namespace) -> dict[str, Any]:
    from vpr.bench import bench_train
    from vpr.utils.threads import use_threads

    use_threads(arguments.threads)
    return bench_train(config, arguments.repeats, progress_bar)


def _stream(config: RunConfig, arguments: argparse.Namespace) -> dict[str, Any]:
    from vpr.bench import bench_stream
    from vpr.utils.threads import use_threads

    if arguments.frames < 1:
        raise VPRError(f"frames must be 1 or more, got {arguments.frames}")
    use_threads(1)
    return bench_stream(config, arguments.repeats, arguments.frames, progress_bar)


def _rollout(config: RunConfig, arguments: argparse.Namespace) -> dict[str, Any]:
    from vpr.bench import bench_rollout
    from vpr.utils.threads import use_threads

    use_threads(1)
    return bench_rollout(config, arguments.repeats, progress_bar)


def _data(config: RunConfig, arguments: argparse.Namespace) -> dict[str, Any]:
    from vpr.bench import bench_data
    from vpr.utils.threads import use_threads

    use_threads(arguments.threads)
    prepare(config.data)  # rendering is no part of a batch's cost
    return bench_data(config, arguments.repeats, progress_bar)


def _segment(config: RunConfig, arguments: argparse.Namespace) -> dict[str, Any]:
    from vpr.bench import bench_segment
    from vpr.utils.threads import use_threads

    if arguments.minutes < 1:
        raise VPRError(f"minutes must be 1 or more, got {arguments.minutes}")
    use_threads(1)
    return bench_segment(
        arguments.files, arguments.model, arguments.repeats, arguments.minutes, progress_bar
    )


def _show_train(result: dict[str, Any]) -> None:
    _seconds(
        f"Training, {result['frames']} frames a step, weights: {result['weights']}, {_how(result)}",
        {
            "our image network alone (limit)": result["limit_s"],
            "the same of stock layers (plain)": result["plain_s"],
            "a whole training step (vpr)": result["vpr_s"],
            "the hierarchy alone (core)": result["core_s"],
            "the hierarchy, one call after the other (naive core)": result["naive_core_s"],
            "a whole training step with that (naive)": result["naive_s"],
        },
    )
    _bars(
        {
            "vpr / limit: 1 is a hierarchy that costs nothing": result["vpr_over_limit"],
            "limit / plain: below 1, ours is faster": result["limit_over_plain"],
            "naive core / core: above 1, ours is faster": result["naive_over_core"],
            "peak of this machine, GFLOP/s": round(result["peak_gflops"]),
            "limit's share of it": result["limit_share_of_peak"],
            "vpr's share of it": result["vpr_share_of_peak"],
            "peak memory of training, MB": round(result["peak_memory_mb"]),
        }
    )


def _show_stream(result: dict[str, Any]) -> None:
    _seconds(
        f"One frame at a time, weights: {result['weights']}, {_how(result)}",
        {
            "the image encoder alone, as in training": result["encoder_s"],
            "the image encoder alone, as in a stream": result["single_encoder_s"],
            "a frame at which nothing happens (blocked)": result["blocked_s"],
            "a frame at which every level updates (updating)": result["updating_s"],
        },
    )
    print_table(
        "Milliseconds of untrained models: blocked should not grow, updating grows evenly",
        ["levels", "blocked", "updating"],
        [[n, *map(_milliseconds, times.values())] for n, times in result["by_levels"].items()],
    )
    _bars(
        {
            "blocked / encoder as in training: 1 costs nothing": result["blocked_over_encoder"],
            "blocked / encoder as in a stream: 1 costs nothing": (
                result["blocked_over_single_encoder"]
            ),
            f"frames a second over {result['frames']} frames": round(result["frames_per_second"]),
            "memory after 1000 frames, MB": f"{result['rss_mb_1k']:.1f}",
            "memory at the end, MB: the same is constant memory": f"{result['rss_mb_100k']:.1f}",
        }
    )


def _show_rollout(result: dict[str, Any]) -> None:
    by_sequences = result["by_sequences"]
    times = {
        f"{what}, sequences: {count}": by_sequences[count][key]
        for count in by_sequences
        for what, key in {"decoding alone": "decoding_s", "with jumps": "rollout_s"}.items()
    }
    _seconds(f"{result['steps']} jumps, weights: {result['weights']}, {_how(result)}", times)
    _bars(
        {
            f"with jumps / decoding, sequences: {count}; 1 costs nothing": (
                by_sequences[count]["rollout_over_decoding"]
            )
            for count in by_sequences
        }
    )


def _show_data(result: dict[str, Any]) -> None:
    rows = {
        "making a training batch": result["batch_s"],
        "a training step with it": result["step_s"],
    }
    _seconds(f"Data, {_how(result)}", rows)
    _bars({"batch / step: 0 is data that costs nothing": result["data_share"]})


def _show_segment(result: dict[str, Any]) -> None:
    for each in result["files"]:
        print_table(
            f"{each['file']}, {each['frames']} frames, watched by {result['model']}, one core, "
            f"medians of {result['repeats']} rounds",
            ["what", "frames a second"],
            [
                ["vpr segment", round(each["vpr_fps"])],
                ["PySceneDetect's content detector", round(each["content_fps"])],
                ["the same, reading with PyAV", round(each["content_pyav_fps"])],
            ],
        )
        _bars(
            {
                "vpr / content detector: above 1, ours is faster": each["vpr_over_content"],
                "vpr / the same with PyAV": each["vpr_over_content_pyav"],
                "share of decoding": each["decoding_share"],
                "share of the model": each["model_share"],
                "share of the rest": each["rest_share"],
            }
        )
    _bars(
        {
            "memory of a minute, MB": f"{result['minute_mb']:.1f}",
            f"memory of {result['minutes']} minutes, MB": f"{result['long_mb']:.1f}",
            "growth, MB: 0 is constant memory": f"{result['growth_mb']:.1f}",
        }
    )


def _how(result: dict[str, Any]) -> str:
    return (
        f"{result['preset']}, threads: {result['threads']}, medians of {result['repeats']} rounds"
    )


def _seconds(title: str, rows: dict[str, float]) -> None:
    cells = [[what, _milliseconds(seconds)] for what, seconds in rows.items()]
    print_table(title, ["what", "milliseconds"], cells)


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.3f}"


def _bars(rows: dict[str, object]) -> None:
    print_table("What it means", ["bar", "value"], list(rows.items()))


RUN = {
    "train": (_train, _show_train),
    "stream": (_stream, _show_stream),
    "rollout": (_rollout, _show_rollout),
    "data": (_data, _show_data),
    "segment": (_segment, _show_segment),
}

COMMAND = Command("Measure speed and memory beside what bounds them.", declare, run)
