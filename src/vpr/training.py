"""The training loop, on Lightning Fabric. Stopped anywhere, it goes on bit for bit."""

from __future__ import annotations

import math
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import NamedTuple

import torch
from lightning_fabric import Fabric
from torch import Tensor
from torch.nn.utils import get_total_norm

from vpr.batches import Batches
from vpr.checkpoint import RunFolder
from vpr.config import RunConfig
from vpr.errors import VPRError
from vpr.events import Exploring, Holding, Rule, Subjective
from vpr.metrics import MetricsLog
from vpr.model import VPR
from vpr.rehearsal import gather, rehearse
from vpr.schedule import Weights
from vpr.session import Session
from vpr.trace import Loss


class Progress(NamedTuple):
    """What a step tells to whoever watches."""

    step: int  # steps done
    steps: int  # in all
    loss: float
    reconstruction: float
    kl: list[float]
    update_rate: list[float]

    @classmethod
    def rehearsing(cls, step: int, steps: int) -> Progress:
        """Of a step that sees no frames; they are counted apart."""
        return cls(step, steps, math.nan, math.nan, [], [])


class Outcome(NamedTuple):
    """How a call of `train` ended."""

    step: int
    finished: bool
    interrupted: bool  # by Ctrl-C or SIGTERM
    settled: int | None  # when the reconstruction had settled, which the staged schedule waits for
    seconds: float
    rehearsed: float  # seconds of rehearsal, also if an earlier call did it


def train(
    config: RunConfig,
    out: Path | str,
    *,
    watch: Callable[[Progress], None] | None = None,
    look: Callable[[Session], None] | None = None,
    until: int | None = None,
    accelerator: str = "cpu",
) -> Outcome:
    """Train into the folder `out`, or go on with the run that is there.

    Stops cleanly, with a checkpoint, at the end, at step `until`, and at Ctrl-C or SIGTERM.
    `watch` is told each step's numbers; `look` may look at everything, and leaves it as it is.
    """
    start = perf_counter()
    fabric = _fabric(accelerator)
    until = sys.maxsize if until is None else until
    if until < 1:
        raise VPRError(f"until must be 1 or more, got {until}")
    folder = RunFolder(out)
    with folder.locked():
        session = Session(config, fabric.device)
        checkpoint = folder.claim(config)
        if checkpoint is not None:
            session.restore(checkpoint)
        if session.step < until and not session.is_finished:
            log = MetricsLog(folder, config, session.step)
            with log, _stop_signal() as stopped, without_denormals():
                trainer = Trainer(session, folder, log, fabric)
                trainer.run(until, stopped, watch, look)
                if session.is_trained and session.step < until and not session.is_finished:
                    trainer.rehearse(stopped, watch)
    return _outcome(session, until, perf_counter() - start)


class Trainer:
    """Moves a session forward and writes down how it goes."""

    def __init__(
        self, session: Session, folder: RunFolder, log: MetricsLog, fabric: Fabric
    ) -> None:
        self.session, self.folder, self.log, self.fabric = session, folder, log, fabric
        self.model, self.optimiser = fabric.setup(session.model, session.optimiser)
        self.model.mark_forward_method("loss")

    def run(
        self,
        until: int,
        stopped: Callable[[], bool],
        watch: Callable[[Progress], None] | None,
        look: Callable[[Session], None] | None,
    ) -> None:
        """To the end, to step `until`, or `stopped`; a checkpoint now and then and at the end."""
        session = self.session
        every = session.config.training.checkpoint_every
        while session.step < min(session.last(), until) and not stopped():
            weights = session.weights()
            video = self.fabric.to_device(session.batch())
            progress = self.step(weights, video)
            self.log.push(progress, weights)
            if watch is not None:
                watch(progress)
            if look is not None:
                look(session)
            if session.step % every == 0:
                self.folder.save(session.model, session.checkpoint())
        if session.step % every:
            self.folder.save(session.model, session.checkpoint())

    def rehearse(
        self, stopped: Callable[[], bool], watch: Callable[[Progress], None] | None
    ) -> None:
        """See `vpr.rehearsal`. All of it or nothing: stopped on the way, it is begun anew."""
        session, training, start = self.session, self.session.config.training, perf_counter()
        steps = training.rehearsal_steps
        session.batches.rest.clear()  # what is left of long sequences takes a gigabyte

        def go_on(step: int) -> bool:
            if watch is not None:
                watch(Progress.rehearsing(step, steps))
            return not stopped()

        session.model.rule = session.rule
        events = gather(
            session.model,
            Batches(session.batches.data, session.batches.rng),
            training.rehearsal_sequences,
            training.long_length,
            training.rehearsal_parts,
            training.batch_size,
            go_on,
        )
        if events is not None and rehearse(session.model, events, steps, session.noise, go_on):
            session.rehearsed = perf_counter() - start
            self.folder.save(session.model, session.checkpoint())

    def step(self, weights: Weights, video: Tensor) -> Progress:
        """One step of Adam; raises before anything is damaged when a number is not finite."""
        session, training = self.session, self.session.config.training
        session.model.rule = training_rule(session.rule, weights, session.noise)
        for group in self.optimiser.param_groups:
            group["lr"] = session.learning_rate()
        loss = self._loss(weights, video)
        progress = _progress(session, loss)
        self.optimiser.zero_grad()
        self.fabric.backward(loss.total)
        _clip(session.model, training.clip, session.step)
        self.optimiser.step()
        session.advance(loss, progress.reconstruction)
        return progress

    def _loss(self, weights: Weights, video: Tensor) -> Loss:
        session, training = self.session, self.session.config.training
        sequences, frames = video.shape[:2]
        noise = session.model.noise(sequences, frames, session.noise)
        return self.model.loss(  # type: ignore[no-any-return]
            video,
            session.initial_state(),
            noise,
            weights,
            training.kl_balancing,
            trusted=True,
            led=session.carried.led if session.carried is not None else None,
        )


def training_rule(rule: Rule, weights: Weights, chance: torch.Generator) -> Rule:
    """The rule in force, with what only training adds: random updates, a level that has to wait."""
    rule = rule_in_force(rule, weights)
    if not isinstance(rule, Subjective):
        return rule
    explored = Exploring(rule, weights.explore, chance) if weights.explore else rule
    return Holding(explored, weights.held) if weights.held is not None else explored


def rule_in_force(rule: Rule, weights: Weights) -> Rule:
    """The run's rule at a step, chance apart: CE is silent while the schedule lets CU teach first.

    A rule without CU has no teacher to wait for.
    """
    if not isinstance(rule, Subjective) or not rule.unexpected:
        return rule
    power = rule.power if weights.power is None else weights.power
    return replace(rule, expected=rule.expected and weights.expected, power=power)


def _progress(session: Session, loss: Loss) -> Progress:
    """The step's numbers, read in one go."""
    levels = session.config.model.levels
    read = torch.cat([loss.total[None], loss.reconstruction[None], loss.kl, loss.update_rate])
    total, reconstruction, *rest = read.detach().tolist()
    _check_finite("loss", total, session.step)
    steps = session.last()
    return Progress(session.step + 1, steps, total, reconstruction, rest[:levels], rest[levels:])


def _clip(model: VPR, largest: float, step: int) -> None:
    """Scale the gradient down to the norm `largest`, and touch it only if it is longer."""
    slopes = [weight.grad for weight in model.parameters() if weight.grad is not None]
    norm = float(get_total_norm(slopes))
    _check_finite("gradient", norm, step)
    if norm > largest:
        for slope in slopes:
            slope.mul_(largest / norm)


def _check_finite(what: str, value: float, step: int) -> None:
    if not math.isfinite(value):
        raise VPRError(
            f"the {what} is {value} at step {step + 1}: stopped, the last checkpoint is intact; "
            "lower training.learning-rate or training.clip and start in a new folder"
        )


def _outcome(session: Session, until: int, seconds: float) -> Outcome:
    return Outcome(
        session.step,
        finished=session.is_finished,
        interrupted=session.step < until and not session.is_finished,
        settled=session.curve.settled,
        seconds=seconds,
        rehearsed=session.rehearsed,
    )


def _fabric(accelerator: str) -> Fabric:
    try:
        return Fabric(accelerator=accelerator, devices=1)
    except Exception as error:  # Lightning has a kind of its own for each missing device
        raise VPRError(f"accelerator {accelerator!r} is not to be had on this machine") from error


@contextmanager
def without_denormals() -> Iterator[None]:
    """Sure pixels have gradients too small for a normal float, which halve a CPU's speed.

    In this thread, and in those that it starts from now on.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


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
