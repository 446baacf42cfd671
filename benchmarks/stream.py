"""`vpr bench stream`: time per frame without an event and with updates of all levels."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from itertools import cycle, islice
from typing import Any

import torch
from torch import Tensor

from benchmarks.memory import resident_mb
from benchmarks.models import matching_model, untrained_model
from benchmarks.onnx_step import bench_onnx
from benchmarks.steps import Step
from benchmarks.timing import Bar, elapsed_seconds, median_seconds
from vpr.config import ModelConfig, RunConfig
from vpr.data import evaluation_rng
from vpr.events import Always, Rule, Subjective
from vpr.model import VPR
from vpr.stream import Stream

LEVELS = range(1, 7)
BLOCK = 50  # frames timed together, since a push can defer work to the next one
SCENE = 1000  # frames of the dataset, which are repeated
EARLY = 1000  # frames after which the memory is first measured


def bench_stream(config: RunConfig, repeats: int, frames: int, bar: Bar) -> dict[str, Any]:
    """Seconds per frame of the encoder and of streams, and the memory of a long stream."""
    model, weights = matching_model(config)
    scene = _scene(config)
    # The long stream is first, while memory use is low.
    long_stream = _run_long(Stream(deepcopy(model)), scene, frames, bar)
    timed = median_seconds(_candidates(model, scene), repeats, bar)
    each = {name: block / BLOCK for name, block in timed.items()}
    return {
        "preset": config.preset,
        "threads": torch.get_num_threads(),
        "repeats": repeats,
        "frames": frames,
        "weights": weights,
        "encoder_s": each["encoder"],
        "single_encoder_s": each["single encoder"],
        "blocked_s": each["blocked"],
        "updating_s": each["updating"],
        "blocked_over_encoder": each["blocked"] / each["encoder"],
        "blocked_over_single_encoder": each["blocked"] / each["single encoder"],
        "by_levels": {
            str(n): {f"{what}_s": each[f"{what} {n}"] for what in ("blocked", "updating")}
            for n in LEVELS
        },
        **long_stream,
        **bench_onnx(model, scene, repeats, bar),
    }


def _scene(config: RunConfig) -> list[Tensor]:
    """Consecutive frames of the dataset."""
    batch = config.data.batch(1, SCENE, evaluation_rng(config.seed))
    return list(torch.from_numpy(batch.frames[0]))


def _run_long(stream: Stream, scene: list[Tensor], frames: int, bar: Bar) -> dict[str, float]:
    """Speed, and memory after a thousand frames and at the end."""
    repeated, early = cycle(scene), min(EARLY, frames)
    with bar(frames) as advance:

        def push(first: int, last: int) -> None:
            for number, frame in enumerate(islice(repeated, last - first), start=first):
                stream.push(frame)
                if number % BLOCK == 0:
                    advance(number, "frames of a stream")

        seconds = elapsed_seconds(lambda: push(0, early))
        memory = resident_mb()
        seconds += elapsed_seconds(lambda: push(early, frames))
        advance(frames, "done")
    return {
        "frames_per_second": frames / seconds,
        "rss_mb_1k": memory,
        "rss_mb_100k": resident_mb(),
    }


def _candidates(model: VPR, scene: list[Tensor]) -> dict[str, Step]:
    """Blocks of frames for the model, and for untrained models of 1 to 6 levels."""
    candidates = {
        "encoder": _block(_encoder(model), scene),
        "single encoder": _block(_single_encoder(model), scene),
    } | _streams(model, "", scene)
    for n in LEVELS:
        # The rule is replaced below; a clockwork rule would require intervals for every level.
        config = replace(model.config, levels=n, rule="subjective")
        candidates |= _streams(untrained_model(config, seed=0), f" {n}", scene)
    return candidates


def _streams(model: VPR, suffix: str, scene: list[Tensor]) -> dict[str, Step]:
    rules: dict[str, Rule] = {"blocked": no_events_rule(model.config), "updating": Always()}
    return {
        f"{what}{suffix}": _block(_stream_with_rule(model, rule).push, scene)
        for what, rule in rules.items()
    }


def no_events_rule(config: ModelConfig) -> Rule:
    """A rule without events: level 2 compares at every frame, the levels above never do."""
    return Subjective(expected=False, unexpected=False, window=config.window)


def _stream_with_rule(model: VPR, rule: Rule) -> Stream:
    model = deepcopy(model)
    model.rule = rule
    return Stream(model)


def _encoder(model: VPR) -> Callable[[Tensor], object]:
    """The image encoder of training and `observe`, on a batch of one."""

    @torch.inference_mode()
    def encode(frame: Tensor) -> Tensor:
        return model.codec.encode(model.codec.to_layout(frame.unsqueeze(0)))

    return encode


def _single_encoder(model: VPR) -> Callable[[Tensor], object]:
    """The image encoder of a stream."""
    return torch.inference_mode()(model.codec.single_frame_encoder())


def _block(push: Callable[[Tensor], object], scene: list[Tensor]) -> Step:
    repeated = cycle(scene)

    def block() -> None:
        for frame in islice(repeated, BLOCK):
            push(frame)

    return block
