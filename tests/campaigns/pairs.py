"""Training in two processes, of which one is killed at a random moment; then it is resumed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from tests.campaigns.campaign import PATIENCE, Failure, Result, command
from tests.conftest import tiny_run
from vpr.errors import VPRError
from vpr.training.checkpoint import RunFolder
from vpr.training.loop import train
from vpr.training.session import Session

ROOT = Path(__file__).parents[2]
TINY = tiny_run(steps=1_000_000)  # with a checkpoint every two steps
CONFIG = replace(TINY, training=replace(TINY.training, batch_size=4))
TRAIN = "--train"  # the option of a process that trains


def run(count: int, seed: int) -> Result:
    rng, result, step = random.Random(seed), Result(Counter(), []), 0
    with TemporaryDirectory(prefix="campaign-") as folder:
        run = Path(folder) / "run"
        for number in range(count):
            try:
                killed = _kill_one(run, number % 2, rng)
                step = _resumable(run, at_least=step)
                result.outcomes[f"process {killed} killed"] += 1
            except (Failure, VPRError) as error:
                result.failures.append(f"kill {number}: {error}")
        if step:
            train(CONFIG, run, until=step + 1)  # by one process
    result.outcomes["steps"] = step
    return result


def _kill_one(run: Path, which: int, rng: random.Random) -> int:
    """Start two processes, kill the first or the second, and wait until both have ended."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    words = [sys.executable, "-m", "tests.campaigns.pairs", TRAIN, str(run)]
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    first = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert first.stdout is not None
    begun = first.stdout.readline()  # the number of the second process, after the first step
    if not begun:
        raise Failure(f"training did not start: {_one_line(first.communicate()[1])}")
    pair = [first.pid, int(begun)]
    sleep(rng.random())
    os.kill(pair[which], signal.SIGKILL)
    _check_end(first, pair)
    return which + 1


def _check_end(first: subprocess.Popen[str], pair: list[int]) -> None:
    try:
        _, errors = first.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        for each in pair:
            _kill(each)
        first.communicate()
        raise Failure("it hung after the other process was killed") from None
    end = monotonic() + PATIENCE
    while Path(f"/proc/{pair[1]}").exists():
        if monotonic() > end:
            _kill(pair[1])
            raise Failure("the second process did not end")
        sleep(0.05)
    told = [line for line in errors.splitlines() if line.startswith("vpr: ")]
    if "Traceback" in errors or len(told) > 1:
        raise Failure(f"not one line: {_one_line(errors)}")
    if first.returncode == 0:
        raise Failure("training ended as if nothing had happened")


def _one_line(errors: str) -> str:
    return " ".join(errors.split())[-300:]


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _resumable(run: Path, at_least: int) -> int:
    """The step from which the run resumes; raises if an older one was lost."""
    if not RunFolder(run).exists():  # killed before the first checkpoint
        return at_least
    session = Session(CONFIG)
    RunFolder(run).resume(session.restore)
    if session.step < at_least:
        raise Failure(f"step {at_least} was saved, now there is step {session.step}")
    return session.step


def _train(out: str) -> None:
    """One of the two processes. After its first step, the first prints the number of the second."""
    begun: list[bool] = []

    def on_step(now: object) -> None:
        if not begun:
            begun.append(True)
            print(_child(), flush=True)

    try:
        train(CONFIG, out, devices=2, on_step=on_step)
    except VPRError as error:
        print(f"vpr: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def _child() -> int:
    """The process that this one has started."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return int(children[0])


def main(argv: Sequence[str] | None = None) -> int:
    return command("pairs", 200, run, argv)


if __name__ == "__main__":
    if TRAIN in sys.argv:
        _train(sys.argv[-1])
    else:
        raise SystemExit(main())
