"""What the benchmarks measured, as tables in the terminal."""

from __future__ import annotations

from typing import Any

from vpr.cli.show import print_table


def show_train(result: dict[str, Any]) -> None:
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
    _ratios(
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


def show_stream(result: dict[str, Any]) -> None:
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
    _ratios(
        {
            "blocked / encoder as in training: 1 costs nothing": result["blocked_over_encoder"],
            "blocked / encoder as in a stream: 1 costs nothing": (
                result["blocked_over_single_encoder"]
            ),
            f"frames a second over {result['frames']} frames": round(result["frames_per_second"]),
            "memory after 1000 frames, MB": f"{result['rss_mb_1k']:.1f}",
            "memory at the end, MB: the same is constant memory": f"{result['rss_mb_100k']:.1f}",
        }
        | _onnx(result)
    )


def _onnx(result: dict[str, Any]) -> dict[str, object]:
    """The rows of the exported model, if the packages for it are installed."""
    if "onnx_s" not in result:
        return {}
    return {
        "a frame in a stream, µs": round(1e6 * result["torch_s"]),
        "the same in onnxruntime, µs": round(1e6 * result["onnx_s"]),
        "onnxruntime / stream: below 1, onnxruntime is faster": result["onnx_over_torch"],
    }


def show_rollout(result: dict[str, Any]) -> None:
    by_sequences = result["by_sequences"]
    times = {
        f"{what}, sequences: {count}": by_sequences[count][key]
        for count in by_sequences
        for what, key in {"decoding alone": "decoding_s", "rollout": "rollout_s"}.items()
    }
    _seconds(f"{result['steps']} predictions, weights: {result['weights']}, {_how(result)}", times)
    _ratios(
        {
            f"rollout / decoding, sequences: {count}; 1 costs nothing": (
                by_sequences[count]["rollout_over_decoding"]
            )
            for count in by_sequences
        }
    )


def show_data(result: dict[str, Any]) -> None:
    rows = {
        "making a training batch": result["batch_s"],
        "a training step with it": result["step_s"],
    }
    _seconds(f"Data, {_how(result)}", rows)
    _ratios({"batch / step: 0 is data that costs nothing": result["data_share"]})


def show_baselines(result: dict[str, Any]) -> None:
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
    _ratios(
        {
            f"{words} / VPR: above 1, VPR is faster": result[f"{key}_over_vpr"]
            for key, words in there.items()
            if key != "vpr"
        }
    )


def show_segment(result: dict[str, Any]) -> None:
    for each in result["files"]:
        print_table(
            f"{each['file']}, {each['frames']} frames, segmented with {result['model']}, one core, "
            f"medians of {result['repeats']} rounds",
            ["what", "frames a second"],
            [
                ["vpr segment", round(each["vpr_fps"])],
                ["PySceneDetect's content detector", round(each["content_fps"])],
                ["the same, reading with PyAV", round(each["content_pyav_fps"])],
            ],
        )
        _ratios(
            {
                "vpr / content detector: above 1, ours is faster": each["vpr_over_content"],
                "vpr / the same with PyAV": each["vpr_over_content_pyav"],
                "share of decoding": each["decoding_share"],
                "share of the model": each["model_share"],
                "share of the rest": each["rest_share"],
            }
        )
    _ratios(
        {
            "memory of a minute, MB": f"{result['minute_mb']:.1f}",
            f"memory of {result['minutes']} minutes, MB": f"{result['long_mb']:.1f}",
            "growth, MB: 0 is constant memory": f"{result['growth_mb']:.1f}",
        }
    )


def show_scaling(result: dict[str, Any]) -> None:
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


def show_learn(result: dict[str, Any]) -> None:
    print_table(
        f"F1 during training, {result['preset']}, seed {result['seed']}, "
        f"threads: {result['threads']}",
        ["step", "core-minutes", *(f"level {n}" for n in result["f1"])],
        [
            [each["step"], f"{each['core_minutes']:.2f}", *each["f1"].values()]
            for each in result["evaluations"]
        ],
    )
    reached = f"F1 ≥ {result['target']}" if result["reached"] else "not reached"
    _ratios({"core-minutes": f"{result['core_minutes']:.2f} ({reached})"})


def _how(result: dict[str, Any]) -> str:
    return (
        f"{result['preset']}, threads: {result['threads']}, medians of {result['repeats']} rounds"
    )


def _seconds(title: str, rows: dict[str, float]) -> None:
    cells = [[what, _milliseconds(seconds)] for what, seconds in rows.items()]
    print_table(title, ["what", "milliseconds"], cells)


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.3f}"


def _ratios(rows: dict[str, object]) -> None:
    print_table("Ratios and memory", ["quantity", "value"], list(rows.items()))


SHOW = {
    "train": show_train,
    "stream": show_stream,
    "rollout": show_rollout,
    "data": show_data,
    "segment": show_segment,
    "scaling": show_scaling,
    "baselines": show_baselines,
    "learn": show_learn,
}
