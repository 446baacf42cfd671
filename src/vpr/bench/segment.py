"""`vpr bench segment`: footage to events, beside PySceneDetect's content detector, on one core."""

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

from vpr.bench.footage import RATE, write_repeated, write_scenes
from vpr.bench.memory import peak_mb
from vpr.bench.timing import Bar, alternating
from vpr.bench.watched import Watched
from vpr.errors import VPRError
from vpr.segmenting import segment
from vpr.segmenting.batch import write_files

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


@contextmanager
def one_core() -> Iterator[None]:
    """Everything in here, PySceneDetect's threads too, shares one core, where the system can."""
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    if before:
        os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        if before:
            os.sched_setaffinity(0, before)


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
    from vpr.utils.threads import use_threads

    use_threads(1)
    write_files(segment(str(path), name), path.with_suffix(""))
    return peak_mb()
