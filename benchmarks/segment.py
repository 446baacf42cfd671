"""`vpr bench segment`: segmentation, compared with PySceneDetect's ContentDetector, on one core."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from benchmarks.footage import RATE, write_repeated, write_scenes
from benchmarks.memory import peak_mb
from benchmarks.timed_segmentation import TimedSegmentation
from benchmarks.timing import Bar, median_seconds
from vpr.errors import VPRError
from vpr.segmenting import segment
from vpr.segmenting.batch import write_files

MINUTE = 60 * RATE  # frames
DETECTORS = {"content": "opencv", "content_pyav": "pyav"}  # backend of PySceneDetect


def bench_segment(
    files: Sequence[str], name: str, repeats: int, minutes: int, bar: Bar
) -> dict[str, Any]:
    """Frames per second, shares of decoding and model, and the memory of long footage.

    Speed is measured on `files`, or else on a generated minute; memory on the generated minute and
    on `minutes` repetitions of it.
    """
    if importlib.util.find_spec("scenedetect") is None:
        raise VPRError("the comparison needs PySceneDetect: pip install 'vpr-torch[scenedetect]'")
    with TemporaryDirectory() as folder, one_core():
        short, long = Path(folder) / "minute.mp4", Path(folder) / "long.mp4"
        write_scenes(short, MINUTE)
        write_repeated(long, short, minutes)
        timed = [_speed(file, name, repeats, Path(folder), bar) for file in files or [str(short)]]
        memory = [_segmentation_peak_mb(path, name) for path in (short, long)]
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


@contextmanager
def one_core() -> Iterator[None]:
    """Restrict the process, including threads of PySceneDetect, to one core, if supported."""
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    if before:
        os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        if before:
            os.sched_setaffinity(0, before)


def _speed(file: str, name: str, repeats: int, folder: Path, bar: Bar) -> dict[str, Any]:
    ours = TimedSegmentation(file, name, folder)
    others: dict[str, Callable[[], object]] = {
        each: partial(detect_scenes, file, backend) for each, backend in DETECTORS.items()
    }
    taken = median_seconds({"vpr": ours} | others, repeats, bar)
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


def detect_scenes(file: str, backend: str) -> int:
    """The number of scenes that ContentDetector finds with its default settings."""
    from scenedetect import ContentDetector, SceneManager, open_video

    manager = SceneManager()
    manager.add_detector(ContentDetector())
    manager.detect_scenes(open_video(file, backend=backend))
    return len(manager.get_scene_list())


def _segmentation_peak_mb(path: Path, name: str) -> float:
    """Peak memory of a new process that segments one file."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_segment_and_measure, path, name).result()


def _segment_and_measure(path: Path, name: str) -> float:
    from vpr.utils.threads import use_threads

    use_threads(1)
    write_files(segment(str(path), name), path.with_suffix(""))
    return peak_mb()
