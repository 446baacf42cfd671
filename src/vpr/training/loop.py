"""The training loop, on Lightning Fabric. Stopped anywhere, it goes on bit for bit."""

from __future__ import annotations

import math
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import NamedTuple

import torch
from lightning_fabric import Fabric
from torch import Tensor
from torch.nn.utils import get_total_norm

from vpr.config import RunConfig
from vpr.errors import VPRError
from vpr.model import VPR
from vpr.state import Loss
from vpr.training.checkpoint import RunFolder
from vpr.training.metrics import MetricsLog
from vpr.training.objectives import objective
from vpr.training.session import Session


class Progress(NamedTuple):
    """What a step tells to whoever watches."""

    step: int  # steps done
    steps: int  # in all
    loss: float
    reconstruction: float
    kl: list[float]
    update_rate: list[float]
    stage: str
    beta: float
    objectives: dict[str, list[float]]  # name → nats per frame of each level


class Outcome(NamedTuple):
    """How a call of `train` ended."""

    step: int
    finished: bool
    interrupted: bool  # by Ctrl-C or SIGTERM
    seconds: float


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
                Trainer(session, folder, log, fabric).run(until, stopped, watch, look)
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
            progress = self.step(self.fabric.to_device(session.batch()))
            self.log.push(progress)
            if watch is not None:
                watch(progress)
            if look is not None:
                look(session)
            if session.step % every == 0:
                self.folder.save(session.model, session.checkpoint())
        if session.step % every:
            self.folder.save(session.model, session.checkpoint())

    def step(self, video: Tensor) -> Progress:
        """One step of Adam; raises before anything is damaged when a number is not finite."""
        session, training = self.session, self.session.config.training
        session.model.rule = session.training_rule()
        for group in self.optimiser.param_groups:
            group["lr"] = session.learning_rate()
        sequences, frames = video.shape[:2]
        noise = session.model.noise(sequences, frames, session.noise)
        loss: Loss = self.model.loss(video, session.initial_state(), noise)
        names = session.stage().objectives
        terms = {name: objective(name)(session.model, loss.trace) for name in names}
        total = self._total(loss, terms)
        progress = _progress(session, total, loss, terms)
        self.optimiser.zero_grad()
        self.fabric.backward(total)
        _clip(session.model, training.clip, session.step)
        self.optimiser.step()
        session.advance(loss.trace)
        return progress

    def _total(self, loss: Loss, terms: dict[str, Tensor]) -> Tensor:
        """w · reconstruction + β · Σ_n (KL of level n + the stage's other terms)."""
        session = self.session
        balanced = session.config.training.kl_balancing and session.beta() < 1
        kl = loss.kl * balance(loss.kl) if balanced else loss.kl
        penalty = torch.stack([kl, *terms.values()]).sum()
        return session.reconstruction_weight * loss.reconstruction + session.beta() * penalty


def balance(kl: Tensor) -> Tensor:
    """NVAE's KL balancing (N,): each level's share of the KL, without gradients."""
    share = kl.detach()
    return share / share.mean().clamp(min=1e-8)


def _progress(session: Session, total: Tensor, loss: Loss, terms: dict[str, Tensor]) -> Progress:
    """The step's numbers, read in one go."""
    levels = session.config.model.levels
    parts = [total[None], loss.reconstruction[None], loss.kl, loss.update_rate, *terms.values()]
    value, reconstruction, *rest = torch.cat(parts).detach().tolist()
    _check_finite("loss", value, session.step)
    kl, rates, *others = (rest[i : i + levels] for i in range(0, len(rest), levels))
    return Progress(
        session.step + 1,
        session.last(),
        value,
        reconstruction,
        kl,
        rates,
        session.stage().name,
        session.beta(),
        dict(zip(terms, others, strict=True)),
    )


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
        seconds=seconds,
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
