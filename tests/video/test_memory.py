"""Memory does not grow with the length of the footage."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.video.encode import encode

READ = """
import resource, sys
from vpr.video import Fit, open_footage

def read(path):
    count = sum(frame.picture.shape == (64, 64, 3) for frame in open_footage(path, fit=Fit(64, 64)))
    return count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

print(*read(sys.argv[1]), *read(sys.argv[2]))
"""


@pytest.mark.parametrize("kind", ["h264", "npy"])
def test_twenty_times_the_frames_in_the_same_memory(tmp_path: Path, kind: str) -> None:
    paths = []
    for frames in (200, 4000):
        path = tmp_path / f"{frames}.{'npy' if kind == 'npy' else 'mp4'}"
        if kind == "npy":
            np.save(path, np.zeros((frames, 72, 128, 3), dtype=np.uint8))  # 5 MB and 110 MB
        else:
            encode(path, frames, size=(72, 128), options={"preset": "ultrafast"})
        paths.append(str(path))
    command = [sys.executable, "-c", READ, *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    few, little, many, much = map(int, done.stdout.split())
    assert (few, many) == (200, 4000)
    assert much - little < 4 * 1024  # kilobytes
