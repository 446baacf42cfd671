"""Training that is killed at random moments, half of them during a save, and resumed."""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import torch

from tests.campaigns.campaign import PATIENCE, Failure, Result, command
from tests.conftest import tiny_run
from vpr.errors import VPRError
from vpr.training.checkpoint import RunFolder
from vpr.training.loop import train
from vpr.training.session import Session
from vpr.utils.files import PARTIAL

CONFIG = tiny_run(steps=1_000_000)  # with a checkpoint every two steps


def run(count: int, seed: int) -> Result:
    torch.set_num_threads(1)
    rng = random.Random(seed)
    result = Result(Counter(), [])
    with TemporaryDirectory(prefix="campaign-") as folder:
        run, whole = Path(folder) / "run", Path(folder) / "whole"
        step = 0
        for number in range(count):
            saving = number % 2 == 1
            try:
                outcome = _kill_one(run, saving, rng)
                step = _resumable(run, at_least=step)
                result.outcomes[outcome] += 1
            except (Failure, VPRError) as error:
                result.failures.append(f"kill {number}: {error}")
        train(CONFIG, run, until=step + 1)
        train(CONFIG, whole, until=step + 1)
        result.failures.extend(_differences(run, whole))
    result.outcomes["steps"] = step
    return result


def _kill_one(run: Path, saving: bool, rng: random.Random) -> str:
    """Train in a process, and kill it later, or while it writes a file."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            train(CONFIG, run, on_step=lambda now: os.write(write, b".") and None)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb", buffering=0) as steps:
        try:
            begun = bool(steps.read(1))  # nothing if training failed
            if begun and saving:
                _stop_in_save(child, run, rng)
            else:
                sleep(rng.random())
        finally:
            os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not begun:
        raise Failure("training did not start again")
    return "killed during a save" if _partials(run) else "killed"


def _stop_in_save(child: int, run: Path, rng: random.Random) -> None:
    """Stop the process while it writes a file."""
    end = monotonic() + PATIENCE
    while monotonic() < end:
        if _partials(run):
            sleep(rng.random() * 0.002)
            os.kill(child, signal.SIGSTOP)
            os.waitpid(child, os.WUNTRACED)
            if _partials(run):
                return
            os.kill(child, signal.SIGCONT)
    raise Failure("it hung: nothing was saved")


def _partials(run: Path) -> set[str]:
    try:
        return {name for name in os.listdir(run) if name.endswith(PARTIAL)}
    except FileNotFoundError:
        return set()


def _resumable(run: Path, at_least: int) -> int:
    """The step from which the run resumes; raises if an older one was lost."""
    session = Session(CONFIG)
    RunFolder(run).resume(session.restore)
    if session.step < at_least:
        raise Failure(f"step {at_least} was saved, now there is step {session.step}")
    return session.step


def _differences(run: Path, whole: Path) -> list[str]:
    """What differs from a run that was never killed."""
    differ = []
    if (run / "model.safetensors").read_bytes() != (whole / "model.safetensors").read_bytes():
        differ.append("the weights differ from those of an uninterrupted run")
    logs = [(each / "metrics.jsonl").read_text().splitlines() for each in (run, whole)]
    if [json.loads(line) for line in logs[0]] != [json.loads(line) for line in logs[1]]:
        differ.append("the metrics differ from those of an uninterrupted run")
    if left := _partials(run):
        differ.append(f"temporary files were left: {sorted(left)}")
    return differ


def main(argv: Sequence[str] | None = None) -> int:
    return command("kills", 200, run, argv)


if __name__ == "__main__":
    raise SystemExit(main())
