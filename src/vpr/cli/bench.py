"""`vpr bench KIND`: measure speed and memory."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from vpr.cli.config_flags import add_config_flags, apply_flags
from vpr.cli.options import add_number, add_threads, at_least_one
from vpr.cli.show import prepare, print_json, print_table, progress_bar
from vpr.config import RunConfig
from vpr.presets import PRESETS, preset

DESCRIPTION = """\
Measure speed as ratios of alternatives that are run in turns. Times are medians, without a first
round.

  train   A training step, compared with the image network alone (the lower limit), the same network
          with stock PyTorch layers, and a naive implementation of the hierarchy; also the share of
          the peak performance of this machine, and the memory of training.
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

Ratios depend less on the load of the machine than times; more --repeats make both more precise.
"""
DEFAULT = "cpu/moving-ball"


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = DESCRIPTION
    parser.usage = (
        "vpr bench {train,stream,rollout,data,baselines} [--preset PRESET] [--FIELD VALUE …]\n"
        "       vpr bench segment [FILE …] [--model MODEL]\n"
        "       vpr bench scaling [--model MODEL]"
    )
    parser.epilog = "The values in brackets are the defaults of the preset."
    parser.add_argument("kind", metavar="KIND", choices=RUN, help=", ".join(RUN))
    kind = next((word for word in words if word in RUN), None)
    if kind == "segment":
        return _declare_segment(parser)
    if kind == "scaling":
        parser.add_argument("--model", default="moving-ball", help="Model. [moving-ball]")
        add_number(parser, "--repeats", 5, "Number of rounds.")
        return None
    parser.add_argument("--preset", default=DEFAULT, help=f"Preset to measure. [{DEFAULT}]")
    add_number(parser, "--repeats", 20, "Number of rounds.")
    if kind in (None, "stream"):
        add_number(parser, "--frames", 100_000, "Frames of the long stream, for KIND stream.")
    if kind not in ("stream", "rollout"):
        add_threads(parser, 2, ", for KIND train, data and baselines")
    named = [word.removeprefix("--preset=") for word in words]
    chosen = next((PRESETS[word] for word in named if word in PRESETS), PRESETS[DEFAULT])
    add_config_flags(parser, chosen, words)


def _declare_segment(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="*", help="Footage. [a generated minute]")
    parser.add_argument("--model", default="moving-ball", help="Model. [moving-ball]")
    add_number(parser, "--repeats", 5, "Number of rounds.")
    add_number(parser, "--minutes", 60, "Length of the long footage.")


def run(arguments: argparse.Namespace) -> int:
    at_least_one(repeats=arguments.repeats)
    measure, show = RUN[arguments.kind]
    is_footage = arguments.kind in ("segment", "scaling")
    config = RunConfig() if is_footage else apply_flags(preset(arguments.preset), vars(arguments))
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

    at_least_one(frames=arguments.frames)
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
    prepare(config.data)  # rendering is not part of the cost of a batch
    return bench_data(config, arguments.repeats, progress_bar)


def _baselines(config: RunConfig, arguments: argparse.Namespace) -> dict[str, Any]:
    from vpr.bench import bench_baselines
    from vpr.utils.threads import use_threads

    use_threads(arguments.threads)
    return bench_baselines(config, arguments.repeats, progress_bar)


def _segment(config: RunConfig, arguments: argparse.Namespace) -> dict[str, Any]:
    from vpr.bench import bench_segment
    from vpr.utils.threads import use_threads

    at_least_one(minutes=arguments.minutes)
    use_threads(1)
    return bench_segment(
        arguments.files, arguments.model, arguments.repeats, arguments.minutes, progress_bar
    )


def _scaling(config: RunConfig, arguments: argparse.Namespace) -> dict[str, Any]:
    from vpr.bench import bench_scaling
    from vpr.utils.threads import use_threads

    use_threads(1)
    return bench_scaling(arguments.model, arguments.repeats, progress_bar)


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


def _show_baselines(result: dict[str, Any]) -> None:
    names = {
        "vpr": "VPR",
        "vta": "VTA",
        "cw_vae": "CW-VAE",
        "vta_published": "VTA with its published image network",
    }
    there = {key: words for key, words in names.items() if f"{key}_s" in result}
    _seconds(
        f"A training step, {result['frames']} frames, {_how(result)}",
        {words: result[f"{key}_s"] for key, words in there.items()},
    )
    _bars(
        {
            f"{words} / VPR: above 1, VPR is faster": result[f"{key}_over_vpr"]
            for key, words in there.items()
            if key != "vpr"
        }
    )


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


def _show_scaling(result: dict[str, Any]) -> None:
    costs = result["costs"]
    events = {f"an event of level {n}": s for n, s in enumerate(costs["events"], start=2)}
    _seconds(
        f"CPU time of segmentation by {result['model']}, medians of {result['repeats']} rounds",
        {
            "a frame: decoding": costs["decoding"],
            "a frame: image encoder": costs["encoding"],
            "a frame: comparison of level 2": costs["comparison"],
            "a frame: recording": costs["recording"],
            **events,
        },
    )
    print_table(
        f"The same {result['frames']} frames in each process, {result['cores']} cores",
        ["processes", "CPU seconds each", "CPU measured / predicted", "seconds"],
        [
            [
                check["processes"],
                sum(check["cpu_s"]) / check["processes"],
                check["measured_over_predicted"],
                check["wall_s"],
            ]
            for check in result["checks"]
        ],
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
    "scaling": (_scaling, _show_scaling),
    "baselines": (_baselines, _show_baselines),
}
