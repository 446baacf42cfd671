"""Tasks on a Ray cluster. Ray repeats a task whose worker or machine died."""

from __future__ import annotations

import logging
import os
import signal
import socket
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from vpr.errors import VPRError
from vpr.executors.executor import (
    Done,
    Executor,
    Failed,
    JobProgress,
    OnProgress,
    Run,
    Setup,
    TaskResults,
    Work,
    run_task,
)

POLL_INTERVAL = 0.5  # seconds between checks for progress and stop requests
MAX_RETRIES = 2  # of a task whose process died, as it does if a file makes the decoder crash
REPORT_INTERVAL = 1.0  # seconds
CONNECT_TIMEOUT = 10.0  # seconds


@dataclass(frozen=True)
class RayCluster(Executor):
    """Runs one task per core of the cluster at a time, or at most `workers`."""

    workers: int | None = None
    reuse: bool = True  # a process runs several tasks, one after the other

    def _run(self, work: Work) -> TaskResults:
        ray = _connected()
        from ray.util.queue import Queue

        progress = Queue(actor_options={"num_cpus": 0})
        execute = ray.remote(num_cpus=1, max_retries=MAX_RETRIES, max_calls=0 if self.reuse else 1)(
            _execute
        )
        shared = ray.put(work.setup), os.getcwd(), progress
        run_id = os.urandom(8).hex()
        waiting, most = work.numbered(), self.workers or len(work.tasks)
        running: dict[Any, int] = {}  # future → index of its task
        handled = 0
        try:
            while running or (waiting and not work.stop_requests):
                while waiting and len(running) < most and not work.stop_requests:
                    number, task = waiting.pop()
                    running[execute.remote(run_id, *shared, number, task)] = number
                ended, _ = ray.wait(list(running), timeout=POLL_INTERVAL)
                for message in progress.get_nowait_batch(progress.qsize()):
                    work.on_progress(message)
                for future in ended:
                    yield _end(ray, future, running.pop(future))
                if len(work.stop_requests) > handled:
                    for future in running:
                        ray.cancel(future, force=bool(handled))
                    handled = len(work.stop_requests)
        finally:
            for future in running:
                ray.cancel(future, force=True)
            progress.shutdown(force=True)


def _connected() -> Any:
    """Ray, connected to the cluster of the environment."""
    try:
        import ray
    except ImportError:
        raise VPRError("--on ray needs Ray: pip install 'vpr-torch[ray]'") from None
    if not ray.is_initialized():
        address = os.environ.get("RAY_ADDRESS", "auto")
        before = signal.getsignal(signal.SIGTERM)
        try:
            _check_reachable(address)
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, ValueError, RuntimeError) as error:
            raise VPRError(
                "no Ray cluster answers: start one with `ray start --head`, or set RAY_ADDRESS"
            ) from error
        signal.signal(signal.SIGTERM, before)  # Ray exits at once, and we ask the tasks to stop
    return ray


def _check_reachable(address: str) -> None:
    """Ray itself tries for minutes to reach a HOST:PORT where nothing listens."""
    host, _, port = address.rpartition(":")
    if port.isdigit() and "//" not in address:
        socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT).close()


def _end(ray: Any, future: Any, number: int) -> Done | Failed:
    try:
        end: Done | Failed = ray.get(future)
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[0]
        return Failed(number, f"its process on the Ray cluster ended: {reason}", 1)
    return end


_ready: dict[str, Run] = {}  # in a worker: the function of the current run


def _execute(
    run_id: str, setup: Setup, folder: str, progress: Any, number: int, task: Any
) -> Done | Failed:
    """Run a task in a worker process, which sets itself up first."""
    if run_id not in _ready:
        _enter(folder)
        from vpr.utils.threads import use_threads

        use_threads(1)
        _ready.clear()
        _ready[run_id] = setup()
    return run_task(_ready[run_id], number, task, _throttled(progress))


def _enter(folder: str) -> None:
    """Change to the folder of the command, because tasks may have relative paths."""
    if not Path(folder).is_dir():
        raise VPRError(
            f"{folder} is not on machine {socket.gethostname()}: "
            "run the command in a folder that all machines share"
        )
    os.chdir(folder)


def _throttled(progress: Any) -> OnProgress:
    last = -REPORT_INTERVAL

    def send(message: JobProgress) -> None:
        nonlocal last
        if monotonic() - last >= REPORT_INTERVAL:
            last = monotonic()
            progress.actor.put_nowait.remote(message)  # without waiting for the answer

    return send
