"""A long stream in constant memory; every so often its state goes through a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from benchmarks.memory import resident_mb
from tests.campaigns.campaign import Result, command
from vpr import VPR, ModelConfig, Stream
from vpr.stream_file import load_state, save_state

EVERY = 1000  # frames between two copies of the stream
GROWTH = 50  # megabytes that a process may grow by after the first thousand frames


def run(count: int, seed: int) -> Result:
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    size = ModelConfig(3, state_size=3, width=12, frame=(1, 16, 16), network="folded", channels=4)
    model = VPR(size).eval()
    model.typical_kl.fill_(1e-3)
    result = Result(Counter(), [])
    stream = copy = Stream(model)
    rng = np.random.default_rng(seed)
    start = None
    with TemporaryDirectory(prefix="campaign-") as folder:
        path = Path(folder) / "state"
        for number in range(count):
            if number % 7 == 0:  # a picture lasts for seven frames
                picture = torch.from_numpy(rng.random((1, 16, 16), dtype=np.float32))
            found = stream.push(picture)
            if copy is not stream and copy.push(picture) != found:
                result.failures.append(f"frame {number}: the stream from a file differs")
                copy = stream
            if number % EVERY == 100:  # for a hundred frames, two streams run side by side
                copy = stream
            if number % EVERY == 0 and number:
                start = start or resident_mb()
                save_state(path, stream.state, model)
                copy = Stream(model, load_state(path, model))
            result.outcomes["events"] += len(found)
            result.outcomes["frames"] += 1
    growth = resident_mb() - (start or resident_mb())
    if growth > GROWTH:
        result.failures.append(f"the process grew by {growth:.0f} MB")
    return result


def main(argv: Sequence[str] | None = None) -> int:
    return command("streaming", 1_000_000, run, argv)


if __name__ == "__main__":
    raise SystemExit(main())
