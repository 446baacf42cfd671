"""Contenders are timed in turn, so that whatever slows the machine down hits all alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from statistics import median
from time import perf_counter

# What shows progress: opened with a total, moved by advance(done, note).
Bar = Callable[[int], AbstractContextManager[Callable[[int, str], None]]]


def seconds(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def alternating(
    contenders: Mapping[str, Callable[[], object]], repeats: int, bar: Bar
) -> dict[str, float]:
    """The median seconds of each, called a, b, c, a, b, c, …; a first round only warms up."""
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    done = 0
    with bar((repeats + 1) * len(contenders)) as advance:
        for _ in range(repeats + 1):
            for name, contender in contenders.items():
                advance(done, name)
                taken[name].append(seconds(contender))
                done += 1
        advance(done, "done")
    return {name: median(times[1:]) for name, times in taken.items()}
