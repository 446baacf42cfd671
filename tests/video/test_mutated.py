"""Hundreds of damaged files: each is read as far as possible or gives a one-line error, quickly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.video.encode import encode
from tests.video.encode import numbered as picture

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mutated")
    encode(folder / "whole.mp4", 8, turned=90)
    encode(folder / "whole.webm", 8, codec="libvpx-vp9")
    encode(folder / "whole.gif", 8, codec="gif", pixels="rgb8")
    encode(folder / "whole.avi", 8, codec="mpeg4")
    encode(folder / "whole.ts", 8, codec="mpeg2video")
    np.save(folder / "whole.npy", np.stack([picture(i) for i in range(8)]))
    np.savez_compressed(folder / "whole.npz", np.stack([picture(i) for i in range(8)]))
    return folder


def read(folder: Path, seed: int, count: int, seconds: float) -> list[str]:
    command = [sys.executable, "-m", "tests.video.mutate", str(folder), str(seed), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def test_hundreds_of_damaged_files(folder: Path) -> None:
    lines = read(folder, seed=0, count=420, seconds=400)
    assert len(lines) == 420
    assert max(float(line.split()[0]) for line in lines) < 5  # none takes too long
    read_some = [line for line in lines if line.endswith("frames")]
    assert 50 < len(read_some) < 400  # the damage was neither nothing nor all


@pytest.mark.slow
def test_thousands_of_damaged_files(folder: Path) -> None:
    for seed in range(1, 6):
        assert len(read(folder, seed, count=1400, seconds=600)) == 1400
