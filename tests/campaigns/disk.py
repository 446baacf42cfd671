"""A disk that is full: no file may grow beyond a random size."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.campaigns.campaign import Failure, Result, command, inside, run_cases
from tests.campaigns.hostile import Random
from tests.conftest import tiny_run
from vpr import VPR, ModelConfig, VPRError, segment
from vpr.segmenting.batch import write_files
from vpr.training.checkpoint import RunFolder
from vpr.training.loop import train
from vpr.training.session import Session

CONFIG = tiny_run(steps=40)


def training(rng: Random, folder: Path, run: Path) -> str:
    """Training stops with an error that names the path; the previous checkpoint is never lost."""
    here = folder / "run"
    shutil.copytree(run, here)
    largest = max(path.stat().st_size for path in here.iterdir())
    with _Limit(int(rng.integers(0, 1.2 * largest))):
        try:
            train(CONFIG, here, until=12)
            outcome = "enough room"
        except VPRError as error:
            if str(here) not in str(error):
                raise Failure(f"no path: {error}") from None
            outcome = "stopped"
    session = Session(CONFIG)
    RunFolder(here).resume(session.restore)
    if session.step < 4:
        raise Failure(f"step 4 was saved, now there is step {session.step}")
    train(CONFIG, here, until=14)  # with space again
    inside(folder, {"run"})
    return outcome


def segmenting(rng: Random, folder: Path, model: VPR) -> str:
    """Files are complete or absent."""
    video = rng.integers(0, 255, (12, 16, 16, 3), dtype=np.uint8)
    timeline = segment(video, model)
    wanted = write_files(timeline, folder / "whole" / "name")
    sizes = {path.name: path.stat().st_size for path in wanted}
    out, outcome = folder / "out", "stopped"
    with _Limit(int(rng.integers(0, 1.2 * max(sizes.values())))):
        try:
            write_files(timeline, out / "name")
            outcome = "enough room"
        except VPRError as error:
            if str(out) not in str(error):
                raise Failure(f"no path: {error}") from None
    found = {path.name: path.stat().st_size for path in out.iterdir()} if out.exists() else {}
    if not found.items() <= sizes.items():
        raise Failure(f"incomplete files: {found}")
    inside(folder, {"whole", "out"})
    return outcome


class _Limit:
    """Files of at most `size` bytes; writing more raises OSError, as on a full disk."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __enter__(self) -> None:
        self.before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, self.before[1]))

    def __exit__(self, *_: object) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self.before)


def run(count: int, seed: int) -> Result:
    size = ModelConfig(3, state_size=3, width=12, frame=(3, 16, 16), network="folded", channels=4)
    model = VPR(size).eval()
    with TemporaryDirectory(prefix="campaign-") as folder:
        base = Path(folder) / "run"
        train(CONFIG, base, until=4)

        def case(number: int, rng: Random, here: Path) -> str:
            half = number % 2
            return training(rng, here, base) if half else segmenting(rng, here, model)

        return run_cases(count, seed, case)


def main(argv: Sequence[str] | None = None) -> int:
    return command("disk", 200, run, argv)


if __name__ == "__main__":
    raise SystemExit(main())
