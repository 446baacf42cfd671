"""Segment one piece of footage into a timeline of events."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.errors import VPRError
from vpr.events import LevelEvidence, Rule, Subjective
from vpr.model import VPR
from vpr.pretrained import FOOTAGE, calibration_of, data_for, load_model
from vpr.pretrained.training_record import training_record
from vpr.segmenting.event_calibration import Changes
from vpr.segmenting.inputs import Footage, ModelInput
from vpr.segmenting.plausibility import find_warnings
from vpr.segmenting.recorder import Recorder
from vpr.segmenting.selection import Selection, select_events
from vpr.segmenting.timeline import Timeline
from vpr.stream import Detector
from vpr.video import Source
from vpr.video.fit import Mode
from vpr.video.frames import Picture
from vpr.video.rates import Rate

OnProgress = Callable[[int, int | None], None]  # frames done, frames expected if known

CHUNK = 16  # frames encoded together; more is hardly faster, and each is held at full size
DEFAULT_FIT: Mode = "letterbox"  # keeps the proportions and crops nothing
SAMPLE_SIZE = 64  # rows to compare with the training data, at most


def segment(
    what: Footage,
    model: VPR | str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    adapt: float | None = None,
    threshold: float | None = None,
    levels: Sequence[int] | None = None,
    min_gap: float | Fraction = 0,
    selection: Selection | None = None,
    fit: Mode | None = None,
    rate: Rate | None = None,
    on_progress: OnProgress | None = None,
) -> Timeline:
    """Find the events in one piece of footage, in constant memory.

    Args:
        what: Anything that `vpr.video.open_footage` opens (a file, a folder of pictures, an array
            (T, H, W, 3), a URL), a source of your own, or an iterable of frames. For a model of
            vectors, an array (T, F) or a .npy file of one.
        model: A model, a run folder or the name of a shipped model. The default is the shipped
            model `footage`, which needs the extra `features`.
        name: The name of a model that is given as an object, for its settings and for warnings.
        adapt: Seconds in which the model, or a new one if there is none, is first trained on the
            footage: a path or an array. `vpr.segmenting.adapt.adapt` keeps such a model.
        threshold: γ, the multiple of the typical D_st above which an event is unexpected. The
            default is the γ of the model.
        levels: The levels to report, 2 or higher. The default is all.
        min_gap: Seconds. Of two events of a level that are closer, only the stronger is kept.
        selection: Which events to report, by probability, number or interval. The default is all
            events, or for a calibrated model those with a probability of at least 0.5.
        fit: How footage of other proportions is fitted to the model's frames: "letterbox", "crop"
            or "stretch". The default is as in training, or letterbox.
        rate: Frames per second of footage without times, such as arrays.
        on_progress: Called with the number of frames done and, if known, of all frames.
    """
    chosen, name = _chosen_model(what, model, name, adapt, threshold)
    wanted, gap = levels_to_report(levels, chosen.config.levels), as_gap(min_gap)
    inputs = ModelInput(chosen, fit or (fit_for(name) if name else DEFAULT_FIT))
    source = inputs.open(what, rate)
    recorder = Recorder(chosen.config.levels)
    calibration = calibration_of(chosen)
    changes = None if calibration is None else Changes()
    segmenter = Segmenter(chosen, inputs, changes)
    segment_source(source, segmenter, recorder, on_progress)
    whole = recorder.timeline(source.name, name or "a model")
    known = None if changes is None else changes.complete()
    timeline = select_events(whole, wanted, gap, selection or Selection(), calibration, known)
    # A custom source may have neither.
    problem, undecodable = getattr(source, "problem", None), getattr(source, "undecodable", 0)
    rows = np.stack(segmenter.sample.rows)
    found = find_warnings(whole, timeline, training_record(name), chosen, inputs, rows)
    return replace(timeline, problem=problem, undecodable=undecodable, warnings=found)


def _chosen_model(
    what: Footage,
    model: VPR | str | os.PathLike[str] | None,
    name: str | None,
    adapt: float | None,
    threshold: float | None,
) -> tuple[VPR, str | None]:
    """The model to use, trained on the footage first if `adapt` is given, and its name."""
    if adapt is not None:
        # Imported here, because importing the training code takes a second.
        from vpr.segmenting.adapt import adapt_without_saving

        model = adapt_without_saving(what, adapt, model)
    model = FOOTAGE if model is None else model
    name = name if isinstance(model, VPR) else os.fspath(model)
    chosen = with_threshold(model if isinstance(model, VPR) else load_model(str(name)), threshold)
    check_levels(chosen)
    return chosen, name


def segment_source(
    source: Source,
    segmenter: Segmenter,
    recorder: Recorder,
    on_progress: OnProgress | None = None,
) -> None:
    """Process all frames of a source, in chunks."""
    frames = iter(source)

    def process_chunk() -> int:  # a function, so that its large frames are freed when it returns
        chunk = list(islice(frames, CHUNK))
        if chunk:
            found = segmenter.process([segmenter.input.fitted(frame.picture) for frame in chunk])
            for frame, evidence in zip(chunk, found, strict=True):
                recorder.add(frame, evidence)
        return len(chunk)

    while process_chunk():
        if on_progress is not None:
            on_progress(len(recorder.times), source.expected)
    if not recorder.times:
        raise VPRError(f"{source.name} has no frames")


def levels_to_report(levels: Sequence[int] | None, total: int) -> list[int]:
    """The levels to report for a model of `total` levels."""
    if levels is None:
        return list(range(2, total + 1))
    for level in levels:
        if not 2 <= level <= total:
            has = "only level 2" if total == 2 else f"levels 2 to {total}"
            raise VPRError(f"this model has {has} (level 1 has no events), got {level}")
    if not levels:
        raise VPRError("levels must name at least one level")
    return sorted(set(levels))


def as_gap(seconds: float | Fraction) -> Fraction:
    """Seconds as an exact fraction: 0.2 is 1/5, so that events exactly 0.2 s apart are kept."""
    try:
        gap = seconds if isinstance(seconds, Fraction) else Fraction(str(seconds))
    except ValueError:
        gap = Fraction(-1)
    if gap < 0:
        raise VPRError(f"min_gap must be 0 seconds or more, got {seconds}")
    return gap


class Segmenter:
    """Detects events in chunks of frames: the same as `Stream`, several times as fast."""

    def __init__(
        self, model: VPR, inputs: ModelInput | None = None, changes: Changes | None = None
    ) -> None:
        check_levels(model)
        self.changes = changes
        self.codec, self.input, self.sample = model.codec, inputs or ModelInput(model), Sample()
        with torch.inference_mode():
            self._detector = Detector(model, model.initial(1), level_one=False)

    @torch.inference_mode()
    def process(self, pictures: Sequence[Picture]) -> list[list[LevelEvidence]]:
        """The evidence of levels 1, 2, … for each of the next frames, see `Detector.process`."""
        return self._detector.process(self.encode(pictures))

    def encode(self, pictures: Sequence[Picture]) -> Tensor:  # → x⁰ (K, D)
        rows = self.input.rows(pictures)
        self.sample.add(rows[0])
        scaled = self.input.scaled(rows)
        if self.changes is not None:
            self.changes.add(scaled.flatten(1).cpu().numpy())
        return self.codec.encode(self.codec.to_layout(scaled))


class Sample:
    """Rows of the footage at regular intervals, at most `SAMPLE_SIZE`."""

    def __init__(self) -> None:
        self.rows: list[NDArray[np.generic]] = []
        self._stride, self._added = 1, 0

    def add(self, row: NDArray[np.generic]) -> None:
        if self._added % self._stride == 0:
            self.rows.append(row.copy())
        self._added += 1
        if len(self.rows) > SAMPLE_SIZE:
            self.rows, self._stride = self.rows[::2], 2 * self._stride


def check_levels(model: VPR) -> None:
    """Raise an error for a model that cannot detect events."""
    if model.config.levels < 2:
        raise VPRError("the model has one level and detects no events: use one with 2 or more")


def with_threshold(model: VPR, gamma: float | None) -> VPR:
    """The model with another γ, sharing its weights; `model` does not change."""
    return model if gamma is None else with_rule(model, replace(threshold_rule(model), gamma=gamma))


def with_rule(model: VPR, rule: Rule) -> VPR:
    """The model with another update rule, sharing its weights."""
    changed = copy(model)
    changed.rule = rule
    return changed


def threshold_rule(model: VPR) -> Subjective:
    """The update rule of the model, which must have a threshold."""
    if isinstance(model.rule, Subjective) and model.rule.unexpected:
        return model.rule
    raise VPRError("this model has no threshold to set: its update rule does not use CU")


def fit_for(model: str) -> Mode:
    """How footage of other proportions was fitted when the model of this name was trained."""
    try:
        data = data_for(model)
    except VPRError:  # weights without a configuration of data
        return DEFAULT_FIT
    fit: Mode = getattr(data, "fit", DEFAULT_FIT)
    return fit
