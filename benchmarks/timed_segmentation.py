"""Segmentation of a file, with the shares of time of decoding and of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.timing import elapsed_seconds
from vpr.events import LevelEvidence
from vpr.model import VPR
from vpr.pretrained import load_model
from vpr.segmenting.batch import write_files
from vpr.segmenting.inputs import ModelInput
from vpr.segmenting.recorder import Recorder
from vpr.segmenting.segment import Segmenter, fit_for, segment_source
from vpr.video import Frame, Picture, Source


class TimedSegmentation:
    """Segments a file when called, and records the shares of decoding and model."""

    def __init__(self, file: str, name: str, folder: Path) -> None:
        self.file, self.name, self.folder = file, name, folder
        self.model: VPR = load_model(name)
        self.frames = 0
        self.shares: list[tuple[float, float]] = []  # of decoding, of the model

    def __call__(self) -> None:
        times = {"decoding": 0.0, "model": 0.0}
        total = elapsed_seconds(partial(self._run, times))
        self.shares.append((times["decoding"] / total, times["model"] / total))

    def _run(self, times: dict[str, float]) -> None:
        levels = self.model.config.levels
        inputs = ModelInput(self.model, fit_for(self.name))
        source = TimedSource(inputs.open(self.file), times)
        recorder = Recorder(levels)
        segment_source(source, TimedSegmenter(self.model, inputs, times), recorder)
        timeline = recorder.timeline(self.file, self.name)
        write_files(timeline, self.folder / "ours")
        self.frames = timeline.frames

    def median_shares(self) -> tuple[float, float]:
        """The median shares without the first round, which is a warm-up."""
        decoding, model = zip(*self.shares[1:], strict=True)
        return median(decoding), median(model)


class TimedSource:
    """A source that adds the time of decoding to `times`."""

    def __init__(self, source: Source, times: dict[str, float]) -> None:
        self.source, self.times = source, times
        self.name, self.expected = source.name, source.expected
        self.problem: str | None = None
        self.undecodable = 0

    def __iter__(self) -> Iterator[Frame]:
        frames = iter(self.source)
        while True:
            start = perf_counter()
            frame = next(frames, None)
            self.times["decoding"] += perf_counter() - start
            if frame is None:
                return
            yield frame


class TimedSegmenter(Segmenter):
    """A segmenter that adds the time of the model to `times`."""

    def __init__(self, model: VPR, inputs: ModelInput, times: dict[str, float]) -> None:
        super().__init__(model, inputs)
        self.times = times

    def process(self, pictures: Sequence[Picture]) -> list[list[LevelEvidence]]:
        start = perf_counter()
        found = super().process(pictures)
        self.times["model"] += perf_counter() - start
        return found
