"""`vpr bench segment`: footage to events, beside PySceneDetect's content detector, on one core."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import torch

from vpr.bench.footage import RATE, write_repeated, write_scenes
from vpr.bench.memory import peak_mb
from vpr.bench.timing import Bar, alternating, seconds
from vpr.checkpoint import load_model
from vpr.errors import VPRError
from vpr.events import Evidence
from vpr.model import VPR
from vpr.segmenting.batch import write_files
from vpr.segmenting.eye import Eye
from vpr.segmenting.fitting import fit_for
from vpr.segmenting.record import Record
from vpr.segmenting.segment import as_gap, as_source, follow, reported, segment
from vpr.video import Fit, Frame, Picture, Source

MINUTE = 60 * RATE  # frames
DETECTORS = {"content": "opencv", "content_pyav": "pyav"}  # PySceneDetect's name of the backend


def bench_segment(
    files: Sequence[str], name: str, repeats: int, minutes: int, bar: Bar
) -> dict[str, Any]:
    """Frames a second of the contenders, where our time goes, and the memory of long footage.

    Without files, a minute that it makes itself; the memory is always of a minute of these and of
    so many `minutes`.
    """
    if importlib.util.find_spec("scenedetect") is None:
        raise VPRError("the comparison needs PySceneDetect: pip install 'vpr-torch[scenedetect]'")
    with TemporaryDirectory() as folder, one_core():
        short, long = Path(folder) / "minute.mp4", Path(folder) / "long.mp4"
        write_scenes(short, MINUTE)
        write_repeated(long, short, minutes)
        timed = [_speed(file, name, repeats, Path(folder), bar) for file in files or [str(short)]]
        memory = [_peak_of(path, name) for path in (short, long)]
    return {
        "model": name,
        "threads": torch.get_num_threads(),
        "repeats": repeats,
        "files": timed,
        "minutes": minutes,
        "minute_mb": memory[0],
        "long_mb": memory[1],
        "growth_mb": memory[1] - memory[0],
    }


class one_core:  # noqa: N801
    """Everything in here, PySceneDetect's threads too, shares one core, where the system can."""

    def __enter__(self) -> None:
        self.before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
        if self.before:
            os.sched_setaffinity(0, {min(self.before)})

    def __exit__(self, *error: object) -> None:
        if self.before:
            os.sched_setaffinity(0, self.before)


class Watched:
    """A contender of ours: how long the source and the model take, and all together."""

    def __init__(self, file: str, name: str, folder: Path) -> None:
        self.file, self.name, self.folder = file, name, folder
        self.model: VPR = load_model(name)
        self.frames = 0
        self.shares: list[tuple[float, float]] = []  # of decoding, of the model

    def __call__(self) -> None:
        taken = {"decoding": 0.0, "model": 0.0}
        whole = seconds(partial(self._run, taken))
        self.shares.append((taken["decoding"] / whole, taken["model"] / whole))

    def _run(self, taken: dict[str, float]) -> None:
        levels = self.model.config.levels
        fit = Fit.to(self.model.config.frame, fit_for(self.name))
        source = TimedSource(as_source(self.file, fit), taken)
        record = follow(source, TimedEye(self.model, taken), Record(levels), fit)
        timeline = record.timeline(self.file, self.name, reported(None, levels), as_gap(0))
        write_files(timeline, self.folder / "ours")
        self.frames = timeline.frames

    def median_shares(self) -> tuple[float, float]:
        """Without the first round, which only warms up."""
        decoding, model = zip(*self.shares[1:], strict=True)
        return median(decoding), median(model)


class TimedSource:
    def __init__(self, source: Source, taken: dict[str, float]) -> None:
        self.source, self.taken = source, taken
        self.name, self.expected = source.name, source.expected
        self.trouble: str | None = None

    def __iter__(self) -> Iterator[Frame]:
        frames = iter(self.source)
        while True:
            start = perf_counter()
            frame = next(frames, None)
            self.taken["decoding"] += perf_counter() - start
            if frame is None:
                return
            yield frame


class TimedEye(Eye):
    def __init__(self, model: VPR, taken: dict[str, float]) -> None:
        super().__init__(model)
        self.taken = taken

    def look(self, pictures: Sequence[Picture]) -> list[list[Evidence]]:
        start = perf_counter()
        told = super().look(pictures)
        self.taken["model"] += perf_counter() - start
        return told


def _speed(file: str, name: str, repeats: int, folder: Path, bar: Bar) -> dict[str, Any]:
    ours = Watched(file, name, folder)
    others: dict[str, Callable[[], object]] = {
        each: partial(detect, file, backend) for each, backend in DETECTORS.items()
    }
    taken = alternating({"vpr": ours} | others, repeats, bar)
    decoding, model = ours.median_shares()
    return {
        "file": file,
        "frames": ours.frames,
        **{f"{each}_fps": ours.frames / taken[each] for each in ("vpr", *DETECTORS)},
        **{f"vpr_over_{each}": taken[each] / taken["vpr"] for each in DETECTORS},
        "decoding_share": decoding,
        "model_share": model,
        "rest_share": 1 - decoding - model,
    }


def detect(file: str, backend: str) -> int:
    """PySceneDetect's content detector as it comes; the number of scenes."""
    from scenedetect import ContentDetector, SceneManager, open_video

    manager = SceneManager()
    manager.add_detector(ContentDetector())
    manager.detect_scenes(open_video(file, backend=backend))
    return len(manager.get_scene_list())


def _peak_of(path: Path, name: str) -> float:
    """Of a fresh process that segments one file and does nothing else."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_segment_and_tell, path, name).result()


def _segment_and_tell(path: Path, name: str) -> float:
    from vpr.threads import use_threads

    use_threads(1)
    write_files(segment(str(path), name), path.with_suffix(""))
    return peak_mb()
