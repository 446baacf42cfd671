"""`vpr bench stream`: one frame at a time; what it costs when nothing happens and when all does."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from itertools import cycle, islice
from typing import Any

import torch
from torch import Tensor

from vpr.bench.memory import resident_mb
from vpr.bench.steps import Step
from vpr.bench.timing import Bar, alternating, seconds
from vpr.bench.weights import fitting_model, untrained
from vpr.config import ModelConfig, RunConfig
from vpr.data import evaluation_rng
from vpr.events import Always, Rule, Subjective
from vpr.model import VPR
from vpr.stream import Stream

LEVELS = range(1, 7)
BLOCK = 50  # pushes timed together: a push may leave work to the next one
SCENE = 1000  # frames of the dataset, shown over and over
EARLY = 1000  # frames after which the stream's memory is read for the first time


def bench_stream(config: RunConfig, repeats: int, frames: int, bar: Bar) -> dict[str, Any]:
    """Seconds a frame of the encoder and of streams, and the memory of a long one."""
    model, weights = fitting_model(config)
    scene = _scene(config)
    ran = _run(Stream(deepcopy(model)), scene, frames, bar)  # first: nothing else is in memory
    timed = alternating(_contenders(model, scene), repeats, bar)
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
        **ran,
    }


def _scene(config: RunConfig) -> list[Tensor]:
    """Consecutive frames of the dataset."""
    batch = config.data.batch(1, SCENE, evaluation_rng(config.seed))
    return list(torch.from_numpy(batch.frames[0]))


def _run(stream: Stream, scene: list[Tensor], frames: int, bar: Bar) -> dict[str, float]:
    """The speed of a long stream, and its memory after a thousand frames and at the end."""
    shown, early = cycle(scene), min(EARLY, frames)
    with bar(frames) as advance:

        def push(first: int, last: int) -> None:
            for number, frame in enumerate(islice(shown, last - first), start=first):
                stream.push(frame)
                if number % BLOCK == 0:
                    advance(number, "frames of a stream")

        taken = seconds(lambda: push(0, early))
        memory = resident_mb()
        taken += seconds(lambda: push(early, frames))
        advance(frames, "done")
    return {
        "frames_per_second": frames / taken,
        "rss_mb_1k": memory,
        "rss_mb_100k": resident_mb(),
    }


def _contenders(model: VPR, scene: list[Tensor]) -> dict[str, Step]:
    """Blocks of pushes: the model's own, and those of untrained models of 1 to 6 levels."""
    contenders = {
        "encoder": _block(_encoder(model), scene),
        "single encoder": _block(_single_encoder(model), scene),
    } | _both(model, "", scene)
    for n in LEVELS:
        # The rule is replaced anyway; a clockwork one would want intervals for every level.
        config = replace(model.config, levels=n, rule="subjective")
        contenders |= _both(untrained(config, seed=0), f" {n}", scene)
    return contenders


def _both(model: VPR, suffix: str, scene: list[Tensor]) -> dict[str, Step]:
    rules: dict[str, Rule] = {"blocked": nothing_happens(model.config), "updating": Always()}
    return {
        f"{what}{suffix}": _block(_under(model, rule).push, scene) for what, rule in rules.items()
    }


def nothing_happens(config: ModelConfig) -> Rule:
    """Level 2 compares at every frame and finds nothing, so that the levels above do not ask."""
    return Subjective(expected=False, unexpected=False, window=config.window, power=config.power)


def _under(model: VPR, rule: Rule) -> Stream:
    model = deepcopy(model)
    model.rule = rule
    return Stream(model)


def _encoder(model: VPR) -> Callable[[Tensor], object]:
    """The image encoder as training and `observe` run it, on a batch of one."""

    @torch.inference_mode()
    def encode(frame: Tensor) -> Tensor:
        return model.codec.encode(model.codec.to_layout(frame.unsqueeze(0)))

    return encode


def _single_encoder(model: VPR) -> Callable[[Tensor], object]:
    """The image encoder as a stream runs it."""
    return torch.inference_mode()(model.codec.single_frame_encoder())


def _block(push: Callable[[Tensor], object], scene: list[Tensor]) -> Step:
    shown = cycle(scene)

    def block() -> None:
        for frame in islice(shown, BLOCK):
            push(frame)

    return block
