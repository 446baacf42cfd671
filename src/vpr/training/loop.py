"""The training loop, on Lightning Fabric. An interrupted run resumes bit for bit."""

from __future__ import annotations

import logging
import math
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils import get_total_norm

from vpr.config import RunConfig
from vpr.errors import VPRError
from vpr.model import VPR
from vpr.state import Loss, Trace
from vpr.training.checkpoint import Checkpoint, RunFolder
from vpr.training.distributed import ProcessGroup, Strategy
from vpr.training.metrics import MetricsLog
from vpr.training.objectives import objective
from vpr.training.session import Session
from vpr.utils.files import WriteError

logger = logging.getLogger("vpr")
STOP_MESSAGE = (
    "Stopping with a checkpoint after this step. A second Ctrl-C stops at once and loses the steps "
    "since the last checkpoint."
)


class Progress(NamedTuple):
    """The metrics of one step."""

    step: int  # number of steps done
    steps: int  # of the whole run
    loss: float
    reconstruction: float
    kl: list[float]
    update_rate: list[float]
    stage: str
    beta: list[float]
    objectives: dict[str, list[float]]  # name → nats per frame of each level


class Outcome(NamedTuple):
    """The result of a call of `train`."""

    step: int
    finished: bool
    interrupted: bool  # by Ctrl-C or SIGTERM
    seconds: float


def train(
    config: RunConfig,
    out: Path | str,
    *,
    on_step: Callable[[Progress], None] | None = None,
    inspect: Callable[[Session], None] | None = None,
    until: int | None = None,
    accelerator: str = "cpu",
    devices: int = 1,
    nodes: int = 1,
    strategy: Strategy = "auto",
    make_session: Callable[[RunConfig, torch.device], Session] = Session,
) -> Outcome:
    """Train into the folder `out`, or resume the run in this folder.

    Stops with a checkpoint at the end, at step `until`, and at Ctrl-C or SIGTERM. After each step,
    `on_step` is called with the metrics of the step and `inspect` with the session, which it must
    not change. `make_session` selects another model class, see `vpr.baselines`.

    With several `devices` per machine or several machines (`nodes`), each process takes a part of
    every batch, see `vpr.training.distributed`. Only the first process writes files and calls
    `on_step` and `inspect`.
    """
    start = perf_counter()
    until = sys.maxsize if until is None else until
    if until < 1:
        raise VPRError(f"until must be 1 or more, got {until}")
    group = ProcessGroup(accelerator, devices, nodes, strategy)
    folder = RunFolder(out)
    with group.report_errors_once(), ExitStack() as stack:
        group.check_batch_size(config.training.batch_size)
        group.broadcast(lambda: stack.enter_context(folder.locked()))
        session = make_session(config, group.fabric.device)
        _resume(session, folder, group)
        if session.step < until and not session.is_finished:
            metrics = MetricsLog(folder, config, session.step) if group.rank == 0 else None
            trainer = Trainer(session, folder, metrics, group)
            try:
                with metrics or nullcontext(), _stop_signal() as stopped, without_denormals():
                    trainer.run(until, stopped, on_step, inspect)
            except KeyboardInterrupt:  # a second Ctrl-C
                step = trainer.last_saved_step
                logger.warning("Stopped at once; the last checkpoint is of step %d.", step)
                raise
    return _outcome(session, until, perf_counter() - start)


def _resume(session: Session, folder: RunFolder, group: ProcessGroup) -> None:
    """Claim the folder and restore its last checkpoint; the first process reads it for all."""

    def restore() -> Checkpoint | None:
        folder.claim(session.config)
        folder.resume(session.restore)
        return session.checkpoint() if session.step and not group.is_single else None

    checkpoint = group.broadcast(restore)
    if checkpoint is not None and group.rank:
        session.restore(checkpoint)


class Trainer:
    """Performs training steps on a session, and writes metrics and checkpoints."""

    def __init__(
        self, session: Session, folder: RunFolder, metrics: MetricsLog | None, group: ProcessGroup
    ) -> None:
        self.session, self.folder, self.metrics, self.group = session, folder, metrics, group
        self.last_saved_step = session.step  # the step of the last checkpoint

    def run(
        self,
        until: int,
        stopped: Callable[[], bool],
        on_step: Callable[[Progress], None] | None,
        inspect: Callable[[Session], None] | None,
    ) -> None:
        """Train until the end, step `until`, or until `stopped` returns True."""
        session = self.session
        every = session.config.training.checkpoint_every
        main = self.group.rank == 0
        while session.step < min(session.last(), until) and not self.group.any(stopped()):
            progress = self.step(session.batch())
            self._log(progress)
            if on_step is not None and main:
                on_step(progress)
            if inspect is not None and main:
                inspect(session)
            if session.step % every == 0:
                self._save()
        if session.step % every:
            self._save()

    def _save(self) -> None:
        if self.group.rank == 0:
            self.folder.save(self.session.model, self.session.checkpoint())
        self.last_saved_step = self.session.step

    def _log(self, progress: Progress) -> None:
        """Write the metrics of a step; if that fails, save a checkpoint before stopping."""
        if self.metrics is None:
            return
        try:
            self.metrics.push(progress)
        except WriteError as error:
            self.folder.save(self.session.model, self.session.checkpoint())
            step = self.session.step
            raise WriteError(f"{error}; a checkpoint of step {step} was saved") from error

    def step(self, video: Tensor) -> Progress:
        """One step of Adam. Raises before weights change if loss or gradient are not finite."""
        session, group, training = self.session, self.group, self.session.config.training
        model, (sequences, frames) = session.model, video.shape[:2]
        rule = session.training_rule()
        model.rule = group.local_rule(rule, sequences, frames, session.config.model.levels)
        for parameters in session.optimiser.param_groups:
            parameters["lr"] = session.learning_rate()
        noise = model.noise(sequences, frames, session.noise)  # (T, N, B, S)
        loss = model.loss(
            group.shard(video).to(model.device),
            group.shard(session.initial_state()),
            group.shard(noise, axis=2),
            decoded=group.shard_frames(session.decoded(), sequences, frames),
        )
        names = session.stage().objectives
        terms = {name: objective(name)(model, loss.trace) for name in names}
        total = self._total(loss, terms)
        progress = _progress(session, group, total, loss, terms)
        session.optimiser.zero_grad()
        torch.autograd.backward(total)
        group.average_gradients(model)
        _clip(model, training.clip, session.step)
        session.optimiser.step()
        session.advance(_with_all_windows(loss.trace, group), progress.reconstruction)
        return progress

    def _total(self, loss: Loss, terms: dict[str, Tensor]) -> Tensor:
        """w · reconstruction + Σ_n β_n · (KL of level n + the stage's other terms)."""
        session = self.session
        beta = loss.kl.new_tensor(session.beta())
        balanced = session.config.training.kl_balancing and beta[0] < 1
        kl = loss.kl * kl_balancing_weights(self.group.mean(loss.kl)) if balanced else loss.kl
        penalty = torch.stack([kl, *terms.values()]).sum(0)  # (N,)
        return session.reconstruction_weight * loss.reconstruction + beta @ penalty


def kl_balancing_weights(kl: Tensor) -> Tensor:
    """The weights of KL balancing (NVAE): each level's share of the KL (N,), without gradients."""
    share = kl.detach()
    return share / share.mean().clamp(min=1e-8)


def _with_all_windows(trace: Trace, group: ProcessGroup) -> Trace:
    """A trace with the windows of D_st of all processes."""
    if group.is_single:
        return trace
    return trace._replace(
        state=trace.state._replace(windows=group.gather_windows(trace.state.windows))
    )


def _progress(
    session: Session, group: ProcessGroup, total: Tensor, loss: Loss, terms: dict[str, Tensor]
) -> Progress:
    """The metrics of a step, the mean of all processes, transferred in one call."""
    levels = session.config.model.levels
    parts = [total[None], loss.reconstruction[None], loss.kl, loss.update_rate, *terms.values()]
    value, reconstruction, *rest = group.mean(torch.cat(parts).detach()).tolist()
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
    """Scale the gradient down to the norm `largest`, if it is longer."""
    grads = [weight.grad for weight in model.parameters() if weight.grad is not None]
    norm = float(get_total_norm(grads))
    _check_finite("gradient", norm, step)
    if norm > largest:
        for grad in grads:
            grad.mul_(largest / norm)


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


@contextmanager
def without_denormals() -> Iterator[None]:
    """Flush denormal numbers to zero, in this thread and in those it starts.

    The gradients of pixels with almost no error are denormal, which halves the speed of a CPU.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


@contextmanager
def _stop_signal() -> Iterator[Callable[[], bool]]:
    """Ctrl-C and SIGTERM stop after the current step; a second one stops immediately.

    The message is printed at once, because a step can take long.
    """
    asked: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        for each, handler in before.items():
            signal.signal(each, handler)
        with suppress(RuntimeError):  # the signal interrupted another message
            logger.warning(STOP_MESSAGE)

    try:
        before = {n: signal.signal(n, ask) for n in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread, which receives no signals
        before = {}
    try:
        yield lambda: bool(asked)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
