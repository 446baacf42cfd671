"""Calls that Ctrl-C can interrupt, even if they wait in C code."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

POLL_INTERVAL = 0.2  # seconds between checks for signals


def interruptible(call: Callable[[], Result]) -> Result:
    """The result of a call in another thread.

    Python handles signals in its main thread only, and only between its own instructions. After
    Ctrl-C the thread is left behind; being a daemon, it does not delay the end of the process.
    """
    results: list[Result] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as failure:  # raised again in the thread that waits
            failures.append(failure)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(POLL_INTERVAL)
    if failures:
        raise failures[0]
    return results[0]
