"""A film of scenes with known cuts, in two files: to train on, and to test on.

It is made once and kept in the folder of runs, with a list of the cuts beside each file that `vpr
evaluate-boundaries` reads.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vpr.data import MiniworldMaze
from vpr.evaluation.boundary_files import read_marks
from vpr.experiments.known_cuts.scenes import Worlds, available, scene, walks, worlds
from vpr.experiments.runner.base import Advance
from vpr.generation.film_sheet import Pixels
from vpr.utils.config_json import to_dict
from vpr.utils.files import read_json, write_atomically, write_json
from vpr.video.mp4 import write_mp4

RATE = 25
TWICE = 2  # each pixel, both ways: h264 keeps colours at half the resolution
TRAINING, TEST, FILM = "training.mp4", "test.mp4", "film.json"


@dataclass(frozen=True)
class Montage:
    """How it is made; the same montage is the same film, wherever the same worlds are there."""

    seconds: int = 3600
    shortest: float = 2.0  # seconds of a scene
    longest: float = 12.0
    training: float = 0.4  # share of the film, from its beginning
    seed: int = 0
    maze: MiniworldMaze = field(default_factory=lambda: walks(24, 12, 600))


class Scene(NamedTuple):
    world: str
    frames: int
    seed: tuple[int, int]


class Part(NamedTuple):
    """One of the two files, and the times at which its scenes change."""

    path: Path
    cuts: list[Fraction]  # seconds; the beginning is none


class Film(NamedTuple):
    training: Part
    test: Part
    worlds: list[str]


def scenes(montage: Montage, names: Sequence[str]) -> list[Scene]:
    """Random lengths, and each in another world than the one before."""
    rng = np.random.default_rng(montage.seed)
    low, high = (round(seconds * RATE) for seconds in (montage.shortest, montage.longest))
    left, told = montage.seconds * RATE, list[Scene]()
    while left:
        frames = int(rng.integers(low, high + 1))
        frames = frames if left - frames >= low else left  # no scene too short at the end
        others = [name for name in names if not told or name != told[-1].world]
        told.append(Scene(str(rng.choice(others)), frames, (montage.seed, len(told))))
        left -= frames
    return told


def split(told: Sequence[Scene], share: float) -> tuple[list[Scene], list[Scene]]:
    """At a cut: the first scenes that together are this share, and the rest."""
    ends = np.cumsum([each.frames for each in told])
    first = int(np.searchsorted(ends, share * ends[-1])) + 1
    return list(told[:first]), list(told[first:])


def cuts(told: Sequence[Scene]) -> list[int]:
    """The first frame of each scene but the first."""
    return list(accumulate(each.frames for each in told))[:-1]


def film(montage: Montage, runs: Path, advance: Advance) -> Film:
    """The one that is there, or made now."""
    digest = hashlib.sha256(json.dumps(to_dict(montage), sort_keys=True).encode()).hexdigest()
    folder = runs / f"montage-{digest[:8]}"
    if not folder.exists():
        _make(montage, folder, advance)
    return Film(_read(folder / TRAINING), _read(folder / TEST), read_json(folder / FILM)["worlds"])


def _make(montage: Montage, folder: Path, advance: Advance) -> None:
    """All of it in a folder of this process's own, which then gets its name: whole or not there."""
    own = folder.with_name(f"{folder.name}-{os.getpid()}.partial")
    try:
        _fill(montage, own, advance)
        own.rename(folder)
    except OSError:
        if not folder.exists():  # or else another run, at the same time, was faster
            raise
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _fill(montage: Montage, folder: Path, advance: Advance) -> None:
    names = available(montage.maze, lambda done, total: advance(done, total, "recording a maze"))
    told = scenes(montage, names)
    total = sum(each.frames for each in told)
    done = iter(range(1, total + 1))

    def count() -> None:
        if (now := next(done)) % RATE == 0:
            advance(now, total, "encoding the montage")

    for name, part in zip((TRAINING, TEST), split(told, montage.training), strict=True):
        shown = worlds(montage.maze, testing=name == TEST)
        write_mp4(folder / name, _pictures(part, shown, count), 1000 // RATE)
        _write_cuts(folder / name, part)
    write_json(folder / FILM, {"worlds": list(names), "montage": to_dict(montage)})


def _pictures(told: Sequence[Scene], shown: Worlds, count: Callable[[], None]) -> Iterator[Pixels]:
    for each in told:
        for picture in scene(shown[each.world], each.frames, np.random.default_rng(each.seed)):
            yield picture.repeat(TWICE, 0).repeat(TWICE, 1)
            count()


def _write_cuts(path: Path, told: Sequence[Scene]) -> None:
    """A hundredth of a second and less is exact: a frame lasts four."""

    def write(temporary: Path) -> None:
        with temporary.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["frame", "time", "from", "to"])
            for frame, (before, after) in zip(cuts(told), pairwise(told), strict=True):
                rows.writerow([frame, f"{frame / RATE:.2f}", before.world, after.world])

    write_atomically(path.with_suffix(".csv"), write)


def _read(path: Path) -> Part:
    return Part(path, read_marks(path.with_suffix(".csv"), ["time"]).places("time", None))
