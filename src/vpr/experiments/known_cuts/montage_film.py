"""A film of scenes with known cuts, split into a training and a test file.

It is generated once, in the folder of runs, with a CSV file of the cuts of each part, which `vpr
evaluate-boundaries` can read.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vpr.data import MiniworldMaze
from vpr.evaluation.boundary_files import read_marks
from vpr.experiments.known_cuts.scenes import (
    MakeDataset,
    available_kinds,
    render_scene,
    scene_datasets,
    single_colour_maze,
)
from vpr.experiments.runner.base import Advance
from vpr.generation.film_sheet import Pixels
from vpr.utils.config_json import to_dict
from vpr.utils.files import read_json, write_atomically, write_json
from vpr.video.mp4 import write_mp4

RATE = 25
UPSCALING = 2  # h264 stores colours at half the resolution
TRAINING, TEST, FILM = "training.mp4", "test.mp4", "film.json"


@dataclass(frozen=True)
class Montage:
    """Parameters of a film. The film also depends on the kinds of scenes that are available."""

    seconds: int = 3600
    shortest: float = 2.0  # scene, in seconds
    longest: float = 12.0
    training: float = 0.4  # share of the training part, at the beginning
    seed: int = 0
    maze: MiniworldMaze = field(default_factory=lambda: single_colour_maze(24, 12, 600))


class Scene(NamedTuple):
    kind: str
    frames: int
    seed: tuple[int, int]


class Part(NamedTuple):
    """A video file and the times of its cuts."""

    path: Path
    cuts: list[Fraction]  # seconds, without the beginning


class Film(NamedTuple):
    training: Part
    test: Part
    kinds: list[str]  # of scenes


def plan_scenes(montage: Montage, kinds: Sequence[str]) -> list[Scene]:
    """Scenes of random lengths, each of another kind than the one before."""
    rng = np.random.default_rng(montage.seed)
    low, high = (round(seconds * RATE) for seconds in (montage.shortest, montage.longest))
    left, scenes = montage.seconds * RATE, list[Scene]()
    while left:
        frames = int(rng.integers(low, high + 1))
        frames = frames if left - frames >= low else left  # the last scene must not be too short
        others = [kind for kind in kinds if not scenes or kind != scenes[-1].kind]
        scenes.append(Scene(str(rng.choice(others)), frames, (montage.seed, len(scenes))))
        left -= frames
    return scenes


def split(scenes: Sequence[Scene], share: float) -> tuple[list[Scene], list[Scene]]:
    """Split at the first cut at or after a share of the frames."""
    ends = np.cumsum([each.frames for each in scenes])
    first = int(np.searchsorted(ends, share * ends[-1])) + 1
    return list(scenes[:first]), list(scenes[first:])


def cuts(scenes: Sequence[Scene]) -> list[int]:
    """The first frame of each scene, without the first scene."""
    return list(accumulate(each.frames for each in scenes))[:-1]


def load_or_make_film(montage: Montage, runs: Path, advance: Advance) -> Film:
    """The film in the folder of runs, which is generated if necessary."""
    digest = hashlib.sha256(json.dumps(to_dict(montage), sort_keys=True).encode()).hexdigest()
    folder = runs / f"montage-{digest[:8]}"
    if not folder.exists():
        _make(montage, folder, advance)
    kinds = read_json(folder / FILM)["worlds"]
    return Film(_read_part(folder / TRAINING), _read_part(folder / TEST), kinds)


def _make(montage: Montage, folder: Path, advance: Advance) -> None:
    """Write to a temporary folder of this process, then rename it, so that `folder` is complete."""
    temporary = folder.with_name(f"{folder.name}-{os.getpid()}.partial")
    try:
        _write_film(montage, temporary, advance)
        temporary.rename(folder)
    except OSError:
        if not folder.exists():  # it exists if a parallel run was faster
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write_film(montage: Montage, folder: Path, advance: Advance) -> None:
    kinds = available_kinds(montage.maze, lambda n, total: advance(n, total, "recording a maze"))
    scenes = plan_scenes(montage, kinds)
    total = sum(each.frames for each in scenes)
    done = iter(range(1, total + 1))

    def count() -> None:
        if (now := next(done)) % RATE == 0:
            advance(now, total, "encoding the montage")

    for name, part in zip((TRAINING, TEST), split(scenes, montage.training), strict=True):
        datasets = scene_datasets(montage.maze, testing=name == TEST)
        write_mp4(folder / name, _pictures(part, datasets, count), 1000 // RATE)
        _write_cuts(folder / name, part)
    write_json(folder / FILM, {"worlds": list(kinds), "montage": to_dict(montage)})


def _pictures(
    scenes: Sequence[Scene], datasets: Mapping[str, MakeDataset], count: Callable[[], None]
) -> Iterator[Pixels]:
    for each in scenes:
        rng = np.random.default_rng(each.seed)
        for picture in render_scene(datasets[each.kind], each.frames, rng):
            yield picture.repeat(UPSCALING, 0).repeat(UPSCALING, 1)
            count()


def _write_cuts(path: Path, scenes: Sequence[Scene]) -> None:
    """Write frames and times; two decimals are exact, since a frame lasts 0.04 s."""

    def write(temporary: Path) -> None:
        with temporary.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["frame", "time", "from", "to"])
            for frame, (before, after) in zip(cuts(scenes), pairwise(scenes), strict=True):
                rows.writerow([frame, f"{frame / RATE:.2f}", before.kind, after.kind])

    write_atomically(path.with_suffix(".csv"), write)


def _read_part(path: Path) -> Part:
    return Part(path, read_marks(path.with_suffix(".csv"), ["time"]).places("time", None))
