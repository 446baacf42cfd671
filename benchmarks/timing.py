"""Time functions in turn, so that a varying load of the machine affects all of them equally."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from statistics import median
from time import perf_counter

# A progress bar: a context manager, given a total, that yields advance(done, note).
Bar = Callable[[int], AbstractContextManager[Callable[[int, str], None]]]


def elapsed_seconds(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def median_seconds(
    candidates: Mapping[str, Callable[[], object]], repeats: int, bar: Bar
) -> dict[str, float]:
    """The median time of each, called in the order a, b, c, a, b, c, …, after a warm-up round."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    done = 0
    with bar((repeats + 1) * len(candidates)) as advance:
        for _ in range(repeats + 1):
            for name, candidate in candidates.items():
                advance(done, name)
                times[name].append(elapsed_seconds(candidate))
                done += 1
        advance(done, "done")
    return {name: median(each[1:]) for name, each in times.items()}
