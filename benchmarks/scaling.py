"""`vpr bench scaling`: CPU time of segmentation per frame and per event of each level.

Time is that of the processor, not of the clock, so that a busy machine changes it little. The sum
of the costs is compared with whole segmentations in 1, 2 and 4 processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, NamedTuple

import torch
from torch import Tensor

from benchmarks.footage import RATE, write_scenes
from benchmarks.timing import Bar
from vpr.errors import VPRError
from vpr.events import Clockwork, LevelEvidence
from vpr.executors.executor import Done, Report, Run
from vpr.executors.processes import Processes
from vpr.model import VPR
from vpr.pretrained import load_model
from vpr.segmenting.inputs import ModelInput
from vpr.segmenting.recorder import Recorder
from vpr.segmenting.segment import (
    CHUNK,
    Segmenter,
    check_levels,
    fit_for,
    segment,
    segment_source,
    with_rule,
)
from vpr.stream import Detector
from vpr.video import Frame, Picture

FRAMES = 20 * RATE
NEVER = 2**31
PROCESSES = (1, 2, 4)


class Costs(NamedTuple):
    """Seconds of CPU time on one core."""

    decoding: float  # per frame: decode and scale
    encoding: float  # per frame: image encoder
    recording: float  # per frame: evidence and thumbnails for the timeline
    comparison: float  # per frame: x¹, x² and the comparison of level 2
    events: list[float]  # per event of level 2, 3, …, with the comparison of the level above

    def total(self, frames: int, events: Sequence[int]) -> float:
        each_frame = self.decoding + self.encoding + self.recording + self.comparison
        return frames * each_frame + sum(n * s for n, s in zip(events, self.events, strict=True))


def bench_scaling(name: str, repeats: int, bar: Bar) -> dict[str, Any]:
    """The costs, and measured and predicted CPU time of segmentations."""
    model = load_model(name)
    check_levels(model)
    with TemporaryDirectory() as folder, bar(repeats + len(PROCESSES)) as advance:
        film = Path(folder) / "film.mp4"
        write_scenes(film, FRAMES)
        rounds = []
        for number in range(repeats + 1):  # the first is a warm-up
            rounds.append(_costs(model, name, film))
            advance(number, "costs")
        costs = _medians(rounds[1:])
        checks = []
        for number, processes in enumerate(PROCESSES, start=repeats):
            advance(number, f"segmentation in {processes} processes")
            checks.append(_check(name, film, processes, costs))
        advance(repeats + len(PROCESSES), "done")
    return {
        "model": name,
        "frames": FRAMES,
        "repeats": repeats,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "costs": costs._asdict(),
        "checks": checks,
    }


def _medians(rounds: Sequence[Costs]) -> Costs:
    decoding, encoding, recording, comparison, events = zip(*rounds, strict=True)
    of_levels = [median(each) for each in zip(*events, strict=True)]
    return Costs(
        median(decoding), median(encoding), median(recording), median(comparison), of_levels
    )


@torch.inference_mode()
def _costs(model: VPR, name: str, film: Path) -> Costs:
    pictures: list[Picture] = []
    decoding = _cpu_seconds(lambda: pictures.extend(_pictures(model, name, film)))
    chunks = [pictures[start : start + CHUNK] for start in range(0, FRAMES, CHUNK)]
    segmenter = Segmenter(model)
    encoded: list[Tensor] = []
    encoding = _cpu_seconds(lambda: encoded.extend(map(segmenter.encode, chunks)))
    upto = []  # with events of the levels 2 to n at every frame, n = 1, 2, …
    for n in range(1, model.config.levels + 1):
        intervals = (1,) * n + (NEVER,) * (model.config.levels - n)
        clocked = with_rule(model, Clockwork(intervals, window=model.rule.window))
        detector = Detector(clocked, model.initial(1), level_one=False)
        upto.append(_cpu_seconds(partial(_detect, detector, encoded)))
    events = [(more - less) / FRAMES for less, more in pairwise(upto)]
    recorder = TimedRecorder(model.config.levels)
    inputs = ModelInput(model, fit_for(name))
    segment_source(inputs.open(str(film)), Segmenter(model, inputs), recorder)
    return Costs(
        decoding / FRAMES, encoding / FRAMES, recorder.seconds / FRAMES, upto[0] / FRAMES, events
    )


class TimedRecorder(Recorder):
    """Adds up the CPU time that it takes."""

    def __init__(self, levels: int) -> None:
        super().__init__(levels)
        self.seconds = 0.0

    def add(self, frame: Frame, seen: Sequence[LevelEvidence]) -> None:
        start = process_time()
        super().add(frame, seen)
        self.seconds += process_time() - start


def _detect(detector: Detector, encoded: list[Tensor]) -> None:
    for chunk in encoded:
        detector.process(chunk)


def _pictures(model: VPR, name: str, film: Path) -> list[Picture]:
    source = ModelInput(model, fit_for(name)).open(str(film))
    return [frame.picture for frame in source]


def _cpu_seconds(call: Callable[[], object]) -> float:
    start = process_time()
    call()
    return process_time() - start


def _check(name: str, film: Path, processes: int, costs: Costs) -> dict[str, Any]:
    """A segmentation of the film in each of several processes."""
    start = perf_counter()
    ends = list(Processes(processes).run([film] * processes, partial(_setup, name), _ignore))
    wall = perf_counter() - start
    results = [end.result for end in ends if isinstance(end, Done)]
    if len(results) < processes:
        raise VPRError(f"only {len(results)} of {processes} segmentations ended")
    predicted = [costs.total(FRAMES, events) for _, events in results]
    return {
        "processes": processes,
        "events": results[0][1],
        "cpu_s": [seconds for seconds, _ in results],
        "predicted_s": predicted,
        "measured_over_predicted": sum(s for s, _ in results) / sum(predicted),
        "wall_s": wall,
    }


def _ignore(progress: object) -> None:
    """There is one bar for all processes."""


def _setup(name: str) -> Run:
    model = load_model(name)

    def run(film: Path, report: Report) -> tuple[float, list[int]]:
        segment(str(film), model, fit=fit_for(name))  # a warm-up
        start = process_time()
        timeline = segment(str(film), model, fit=fit_for(name))
        levels = range(2, model.config.levels + 1)
        return process_time() - start, [len(timeline.events(level)) for level in levels]

    return run
