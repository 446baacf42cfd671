"""The training loop, on Lightning Fabric. Stopped anywhere, it goes on bit for bit."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any, NamedTuple

import torch
from lightning_fabric import Fabric
from torch import Tensor

from vpr.checkpoint import Checkpoint, RunFolder
from vpr.checks import check_values
from vpr.config import RunConfig, TrainingConfig
from vpr.data import training_rng
from vpr.errors import VPRError
from vpr.events import Exploring, Rule, Subjective, Window
from vpr.metrics import MetricsLog
from vpr.model import VPR
from vpr.schedule import Curve, Staged, Weights
from vpr.trace import Loss


class Progress(NamedTuple):
    """What a step tells to whoever watches."""

    step: int  # steps done
    steps: int  # in all
    loss: float
    reconstruction: float
    kl: list[float]
    update_rate: list[float]


class Outcome(NamedTuple):
    """How a call of `train` ended."""

    step: int
    finished: bool
    seconds: float


class Session:
    """Everything that changes while training, and so everything that a checkpoint holds."""

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        torch.manual_seed(config.seed)
        self.model = VPR(config.model)
        self.rule = self.model.rule
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=config.training.learning_rate)
        self.rng = training_rng(config.seed)
        self.noise = torch.Generator().manual_seed(config.seed)
        self.curve = _curve(config)
        self.windows: tuple[Window, ...] | None = None
        self.step = 0
        self._start_at_data_mean()

    def checkpoint(self) -> Checkpoint:
        tensors = {f"model.{k}": v for k, v in self.model.state_dict().items()}
        for name, parameter in self.model.named_parameters():
            for key, value in self.optimiser.state.get(parameter, {}).items():
                tensors[f"adam.{name}.{key}"] = value
        for level, window in enumerate(self.windows or (), start=2):
            tensors |= {f"window.{level}.{k}": v for k, v in window._asdict().items()}
        tensors["noise"] = self.noise.get_state()
        notes = {
            "step": self.step,
            "curve": self.curve.state(),
            "data": self.rng.bit_generator.state,
        }
        return Checkpoint(tensors, notes)

    def restore(self, checkpoint: Checkpoint) -> None:
        tensors, notes = checkpoint
        self.model.load_state_dict(_under(tensors, "model."))
        for name, parameter in self.model.named_parameters():
            self.optimiser.state[parameter] = _under(tensors, f"adam.{name}.")
        levels = range(2, self.config.model.levels + 1)
        if self.config.model.levels > 1:
            self.windows = tuple(Window(**_under(tensors, f"window.{n}.")) for n in levels)
        self.noise.set_state(tensors["noise"])
        self.step = notes["step"]
        self.curve.restore(notes["curve"])
        self.rng.bit_generator.state = notes["data"]

    def batch(self) -> Tensor:
        """The next training batch (B, T, *frame)."""
        training = self.config.training
        return torch.from_numpy(
            self.config.data.batch(training.batch_size, training.length, self.rng).frames
        )

    def _start_at_data_mean(self) -> None:
        """An untrained decoder paints the mean frame of the data; other starts learn late."""
        video = self.batch()
        check_values(video, self.config.model)
        mean = video.mean((0, 1, *range(3, video.dim())))
        self.model.codec.set_output(self.model.likelihood.level(mean))


def train(
    config: RunConfig,
    out: Path | str,
    *,
    watch: Callable[[Progress], None] | None = None,
    until: int | None = None,
    accelerator: str = "cpu",
) -> Outcome:
    """Train into the folder `out`, or go on with the run that is there.

    Stops cleanly, with a checkpoint, at the end, at step `until`, and at Ctrl-C or SIGTERM.
    """
    # Sure pixels have gradients too small for a normal float, which CPUs compute ten times slower.
    torch.set_flush_denormal(True)
    folder = RunFolder(out)
    checkpoint = folder.claim(config)
    session = Session(config)
    if checkpoint is not None:
        session.restore(checkpoint)
    start = perf_counter()
    last = min(until or config.training.steps, config.training.steps)
    with _stop_signal() as stopped, MetricsLog(folder, config, session.step) as log:
        _loop(
            session, folder, log, last, stopped, watch, Fabric(accelerator=accelerator, devices=1)
        )
    finished = session.step >= config.training.steps
    return Outcome(session.step, finished, perf_counter() - start)


def _loop(
    session: Session,
    folder: RunFolder,
    log: MetricsLog,
    last: int,
    stopped: Callable[[], bool],
    watch: Callable[[Progress], None] | None,
    fabric: Fabric,
) -> None:
    training = session.config.training
    model, optimiser = fabric.setup(session.model, session.optimiser)
    model.mark_forward_method("loss")
    while session.step < last and not stopped():
        weights = session.config.schedule.weights(
            session.step, session.config.model.levels, session.curve.settled
        )
        progress = _step(session, model, optimiser, fabric, weights)
        log.push(progress, weights)
        if watch is not None:
            watch(progress)
        if session.step % training.checkpoint_every == 0 and session.step < last:
            folder.save(session.model, session.checkpoint())
    if session.step:
        folder.save(session.model, session.checkpoint())


def _step(
    session: Session, model: Any, optimiser: Any, fabric: Fabric, weights: Weights
) -> Progress:
    """One step of Adam; raises before anything is damaged when the loss is not finite."""
    training, core = session.config.training, session.model
    core.rule = _rule_now(session, weights)
    for group in optimiser.param_groups:
        group["lr"] = learning_rate(session.step, training)
    video = fabric.to_device(session.batch())
    state = core.initial(training.batch_size)
    if session.windows is not None:
        state = state._replace(windows=session.windows)
    noise = core.noise(training.batch_size, training.length, session.noise)
    loss = model.loss(video, state, noise, weights, training.kl_balancing, trusted=True)
    progress = _progress(session, loss)
    optimiser.zero_grad()
    fabric.backward(loss.total)
    fabric.clip_gradients(model, optimiser, max_norm=training.clip, error_if_nonfinite=False)
    optimiser.step()
    session.windows = loss.state.windows
    core.remember(session.windows)
    session.curve.push(session.step, progress.reconstruction)
    session.step += 1
    return progress


def learning_rate(step: int, training: TrainingConfig) -> float:
    """Cosine decay from the first rate to the final one, then flat."""
    share = min(step / training.decay_steps, 1.0)
    low, high = training.final_learning_rate, training.learning_rate
    return low + (high - low) * 0.5 * (1 + math.cos(math.pi * share))


def _rule_now(session: Session, weights: Weights) -> Rule:
    """The run's rule; a subjective one without CE, and exploring, while the schedule says so."""
    if not isinstance(session.rule, Subjective):
        return session.rule
    rule = replace(session.rule, expected=session.rule.expected and weights.expected)
    return Exploring(rule, weights.explore, session.noise) if weights.explore else rule


def _progress(session: Session, loss: Loss) -> Progress:
    """The step's numbers, read once; nothing after this looks at a value."""
    levels = session.config.model.levels
    read = torch.cat([loss.total[None], loss.reconstruction[None], loss.kl, loss.update_rate])
    total, reconstruction, *rest = read.detach().tolist()
    if not math.isfinite(total):
        raise VPRError(
            f"the loss is {total} at step {session.step + 1}: stopped, the last checkpoint is "
            "intact; lower training.learning-rate or training.clip and start in a new folder"
        )
    steps = session.config.training.steps
    return Progress(session.step + 1, steps, total, reconstruction, rest[:levels], rest[levels:])


def _curve(config: RunConfig) -> Curve:
    schedule = config.schedule if isinstance(config.schedule, Staged) else Staged()
    return Curve(schedule.settle_window, schedule.settle_tolerance, schedule.settle_patience)


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


@contextmanager
def _stop_signal() -> Iterator[Callable[[], bool]]:
    """Ctrl-C and SIGTERM ask to stop after the step; a second one stops at once."""
    asked: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        for each, handler in before.items():
            signal.signal(each, handler)

    try:
        before = {n: signal.signal(n, ask) for n in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: nobody sends signals here
        before = {}
    try:
        yield lambda: bool(asked)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
