"""`vpr bench train`: a training step, compared with its lower limit and with naive versions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch

from benchmarks.flops import flops, peak_gflops
from benchmarks.memory import training_peak_mb
from benchmarks.models import matching_model
from benchmarks.naive_vpr import make_naive
from benchmarks.steps import Step, core_step, limit_step, plain_step, training_step
from benchmarks.timing import Bar, median_seconds
from vpr.config import RunConfig
from vpr.model import VPR
from vpr.training.loop import without_denormals
from vpr.training.session import Session
from vpr.training.stages import Stage


def bench_train(config: RunConfig, repeats: int, bar: Bar) -> dict[str, Any]:
    """Seconds of each candidate, ratios, shares of the peak performance, and memory."""
    threads = torch.get_num_threads()
    memory = _memory(config, threads, bar)  # first, while this process is small
    trained, name = matching_model(config)
    with without_denormals(), _candidates(config, trained) as candidates:
        timed = median_seconds(candidates, repeats, bar)
        work = _work(candidates)
    peak = peak_gflops(bar)
    return {
        "preset": config.preset,
        "threads": threads,
        "repeats": repeats,
        "frames": config.training.batch_size * config.training.length,
        "weights": name,
        "update_rate": _update_rate(config, trained),
        **{f"{name}_s": value for name, value in timed.items()},
        "vpr_over_limit": timed["vpr"] / timed["limit"],
        "limit_over_plain": timed["limit"] / timed["plain"],
        "naive_over_core": timed["naive_core"] / timed["core"],
        "peak_gflops": peak,
        **{f"{name}_share_of_peak": work[name] / timed[name] / 1e9 / peak for name in work},
        "peak_memory_mb": memory,
    }


@contextmanager
def _candidates(config: RunConfig, trained: VPR) -> Iterator[dict[str, Step]]:
    """The functions to time, all on the same video.

    The cost of a level depends on how often it updates, so the weights are trained ones if
    available. The stock layers have initial weights, since they cannot represent trained ones.
    """
    config = replace(config, stages=(Stage("ELBO", 1.0),))  # others need the trace of `VPR`
    session, naive_session, fresh = Session(config), Session(config), Session(config)
    for each in (session, naive_session):
        each.model.load_state_dict(trained.state_dict())
    naive_session.model = make_naive(naive_session.model)
    video = session.batch()
    frames, decoded = video.flatten(0, 1), fresh.decoded()
    with torch.no_grad():
        x0 = trained.codec.encode(trained.codec.to_layout(frames)).view(*video.shape[:2], -1)
    noise = trained.noise(config.training.batch_size, config.training.length, fresh.noise)
    with training_step(session, video) as vpr, training_step(naive_session, video) as naive:
        yield {
            "limit": limit_step(trained, frames, decoded),
            "plain": plain_step(fresh.model, frames, decoded),
            "vpr": vpr,
            "core": core_step(trained, x0, noise),
            "naive_core": core_step(make_naive(trained), x0, noise),
            "naive": naive,
        }


def _work(candidates: dict[str, Step]) -> dict[str, int]:
    """FLOPs of a step. Those of the image network are counted in its plain version, since ours also
    multiplies by zeros."""
    counted = {name: flops(candidates[name]) for name in ("limit", "plain", "vpr")}
    hierarchy = counted["vpr"] - counted["limit"]
    return {"limit": counted["plain"], "vpr": counted["plain"] + hierarchy}


@torch.no_grad()
def _update_rate(config: RunConfig, model: VPR) -> list[float]:
    """The share of frames at which each level updates, which determines the cost of a step."""
    video = Session(config).batch()
    return model.loss(video, noise=model.noise(*video.shape[:2])).update_rate.tolist()


def _memory(config: RunConfig, threads: int, bar: Bar) -> float:
    with bar(1) as advance:
        advance(0, "memory of a training step")
        peak = training_peak_mb(config, threads)
        advance(1, "done")
    return peak
