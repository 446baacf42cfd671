"""Mutated videos, pictures and arrays."""

from __future__ import annotations

import resource
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from tests.campaigns.campaign import Failure, Result, command, inside, run_cases
from tests.campaigns.hostile import Random, chosen
from tests.video.encode import encode, numbered
from tests.video.mutate import mutated
from vpr import VPR, ModelConfig, segment
from vpr.segmenting.batch import write_files

MEMORY = 4 * 2**30  # bytes of address space; PyTorch alone has one


def originals(folder: Path) -> list[Path]:
    pictures = np.stack([numbered(number) for number in range(8)])
    encode(folder / "a.mp4", 8)
    encode(folder / "b.webm", 8, codec="libvpx-vp9")
    encode(folder / "c.gif", 8, codec="gif", pixels="rgb8")
    encode(folder / "d.ts", 8, codec="mpeg2video")
    for ending in ("png", "jpg", "bmp", "tif", "webp"):
        Image.fromarray(pictures[3]).save(folder / f"e.{ending}")
    np.save(folder / "f.npy", pictures)
    np.save(folder / "g.npy", pictures.astype(np.float32) / 255)
    np.savez_compressed(folder / "h.npz", pictures)
    return sorted(folder.iterdir())


def run(count: int, seed: int) -> Result:
    size = ModelConfig(3, state_size=3, width=12, frame=(3, 16, 16), network="folded", channels=4)
    model = VPR(size).eval()
    with TemporaryDirectory(prefix="campaign-") as folder:
        files = originals(Path(folder))

        def case(number: int, rng: Random, here: Path) -> str:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            whole = files[number % len(files)]
            (here / "in").mkdir()
            damaged = here / "in" / whole.name
            damaged.write_bytes(mutated(whole.read_bytes(), rng))
            # A picture is read by FFmpeg if it is named, and by Pillow as part of a folder.
            what = damaged if chosen(rng, [True, False]) else here / "in"
            timeline = segment(what, model)
            write_files(timeline, here / "out" / "name")
            inside(here, {"in", "out"})
            if timeline.frames < 1 or timeline.undecodable < 0:
                raise Failure(f"{timeline.frames} frames, {timeline.undecodable} undecodable")
            return "read in part" if timeline.problem else "read"

        return run_cases(count, seed, case)


def main(argv: Sequence[str] | None = None) -> int:
    return command("footage", 5_000, run, argv)


if __name__ == "__main__":
    raise SystemExit(main())
