"""Read files that were damaged at random: `python -m tests.video.mutate FOLDER SEED COUNT`.

It runs in its own process, because a decoder may crash. It prints a line for
each file: seconds of work, and how many frames there were, or the error message; anything but a
VPRError ends it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from vpr import VPRError
from vpr.video import Fit, open_footage


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """Cut off, with bytes flipped, with a part missing, doubled or overwritten."""
    damaged = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        start = int(rng.integers(len(damaged)))
        end = min(start + int(rng.integers(1, 200)), len(damaged))
        match rng.integers(5):
            case 0:
                del damaged[max(start, 1) :]
            case 1:
                for place in rng.integers(len(damaged), size=rng.integers(1, 30)):
                    damaged[place] ^= 1 << int(rng.integers(8))
            case 2:
                del damaged[start : min(end, len(damaged) - 1)]
            case 3:
                damaged[start:start] = damaged[start:end]
            case 4:
                damaged[start:end] = rng.bytes(end - start)
    return bytes(damaged)


def main(folder: Path, seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    files = sorted(folder.glob("whole.*"))
    for number in range(count):
        whole = files[number % len(files)]
        damaged = folder / f"damaged{whole.suffix}"
        damaged.write_bytes(mutated(whole.read_bytes(), rng))
        start = time.process_time()
        times = []
        try:
            for frame in open_footage(damaged, fit=Fit(16, 16, mode="letterbox")):
                assert frame.picture.shape == (16, 16, 3)
                assert frame.thumbnail(32).shape[2] == 3
                times.append(frame.time)
            said = f"{len(times)} frames"
        except VPRError as error:
            said = str(error)
            assert "\n" not in said
        assert times == sorted(set(times))  # they rise
        print(f"{time.process_time() - start:.2f} {damaged.suffix} {said}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
