"""Claims: files that keep processes and machines with a shared folder from repeating work.

A claim is a `filelock.SoftFileLease`: a file that is created atomically, names its owner, and is
refreshed while the owner works. It expires if its owner was a process on this machine that no
longer exists, or if it has not been refreshed for `LEASE_SECONDS`, measured with the clock of the
process that tries to take it. A process that was suspended for longer than that may repeat work
that another process has taken over. Results are written atomically, so one of the two is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any

from filelock import LeaseSettingsMismatch, SoftFileLease, Timeout

from vpr.errors import VPRError
from vpr.executors.executor import Done, Executor, JobProgress, OnProgress, Setup, TaskResults
from vpr.utils.files import error_reason

LEASE_SECONDS = 60.0  # seconds; the same for all processes
FINAL_TIMEOUT = LEASE_SECONDS + 5.0  # seconds, enough to see that a claim is not refreshed
CLAIM_SUFFIX = ".claim"


class Claimed(Enum):
    """The result of a task that another process has claimed."""

    ELSEWHERE = "elsewhere"


@contextmanager
def claimed(path: Path, timeout: float) -> Iterator[bool]:
    """Claim work with the file `path`; yields False if another process still holds the claim."""
    lease = SoftFileLease(path, lease_duration=LEASE_SECONDS)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(Timeout):
            lease.acquire(timeout=0)  # or remove the claim of a process that is dead
        if not lease.is_locked:
            lease.acquire(timeout=timeout)
    except Timeout:
        yield False
        return
    except LeaseSettingsMismatch as error:
        raise VPRError(f"{path} is a claim of another version of vpr: use one version") from error
    except OSError as error:
        raise VPRError(f"cannot claim work in {path.parent}: {error_reason(error)}") from error
    try:
        yield True
    finally:
        with suppress(OSError):  # the folder was deleted meanwhile
            lease.release()


def run_claimed(
    executor: Executor,
    tasks: Sequence[Any],
    setup: Callable[[float], Setup],
    on_progress: OnProgress,
    stop_requests: Sequence[int] = (),
) -> TaskResults:
    """Run tasks with claims. Those that other processes hold are tried once more at the end.

    `setup` receives the timeout for `claimed`. Tasks that other processes still work on at the end
    have the result `Claimed.ELSEWHERE`.
    """
    held = []
    for end in executor.run(tasks, setup(0.0), on_progress, stop_requests):
        if isinstance(end, Done) and end.result is Claimed.ELSEWHERE:
            held.append(end.task)
        else:
            yield end
    if not held:
        return

    def report(now: JobProgress) -> None:
        on_progress(now._replace(task=held[now.task]))

    again = [tasks[number] for number in held]
    for end in executor.run(again, setup(FINAL_TIMEOUT), report, stop_requests):
        yield end._replace(task=held[end.task])
