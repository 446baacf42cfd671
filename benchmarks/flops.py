"""Floating-point operations of a step, and the peak performance of this machine."""

from __future__ import annotations

from functools import partial

import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.steps import Step
from benchmarks.timing import Bar, elapsed_seconds

SIZES = (1024, 2048, 4096)  # of square float32 matrices
TRIES = 5


def flops(step: Step) -> int:
    """FLOPs of matrix products and convolutions, forward and backward; a multiply-add is two."""
    with FlopCounterMode(display=False) as counter:
        step()
    return int(counter.get_total_flops())


def peak_gflops(bar: Bar) -> float:
    """The best rate of large matrix products, with the present number of threads."""
    rates: list[float] = []
    with bar(len(SIZES) * TRIES) as advance:
        for size in SIZES:
            a, b, out = (torch.ones(size, size) for _ in range(3))
            for _ in range(TRIES):
                advance(len(rates), f"product of {size}×{size}")
                seconds = elapsed_seconds(partial(torch.mm, a, b, out=out))
                rates.append(2 * size**3 / seconds / 1e9)
        advance(len(rates), "done")
    return max(rates)
