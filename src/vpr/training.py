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
from vpr.checkpoint import Checkpoint, RunFolder
from vpr.checks import check_values
from vpr.config import RunConfig, TrainingConfig
from vpr.data import training_rng
from vpr.errors import VPRError
from vpr.events import Exploring, Holding, Rule, Subjective, Window
from vpr.foresight import Led
from vpr.metrics import MetricsLog
from vpr.model import VPR
from vpr.rehearsal import gather, rehearse
from vpr.schedule import Weights
from vpr.trace import Loss, State
from vpr.tree import tree_filled, tree_leaves, tree_map


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


class Carried(NamedTuple):
    """What sequences that are under way take along from one step to the next."""

    state: State
    led: Led | None  # where jumps have led, if there is foresight


class Session:
    """Everything that changes while training, and so everything that a checkpoint holds."""

    def __init__(self, config: RunConfig, device: torch.device | str = "cpu") -> None:
        self.config = config
        torch.manual_seed(config.seed)
        self.model = VPR(config.model).to(device)
        self.rule = self.model.rule
        self.optimiser = torch.optim.Adam(
            self.model.parameters(),
            lr=config.training.learning_rate,
            fused=self.model.usual.device.type in ("cpu", "cuda"),
        )
        self.batches = Batches(config.data, training_rng(config.seed))
        self.noise = torch.Generator().manual_seed(config.seed)
        self.curve = config.schedule.curve()
        self.windows: tuple[Window, ...] | None = None
        self.carried: Carried | None = None
        self.rehearsed = 0.0  # seconds that it took; 0 as long as it is not done
        self.step = 0
        self._start_at_data_mean()

    def checkpoint(self) -> Checkpoint:
        tensors = {f"model.{k}": v for k, v in self.model.state_dict().items()}
        for name, parameter in self.model.named_parameters():
            for key, value in self.optimiser.state.get(parameter, {}).items():
                tensors[f"adam.{name}.{key}"] = value
        for level, window in enumerate(self.windows or (), start=2):
            tensors |= {f"window.{level}.{k}": v for k, v in window._asdict().items()}
        if self.carried is not None:
            leaves = enumerate(tree_leaves(self.carried))
            tensors |= {f"carried.{place}": leaf.clone() for place, leaf in leaves}
        tensors["noise"] = self.noise.get_state()
        notes = {"step": self.step, "curve": self.curve.state(), "rehearsed": self.rehearsed}
        notes |= self.batches.state()
        return Checkpoint(tensors, notes)

    def restore(self, checkpoint: Checkpoint) -> None:
        tensors, notes = checkpoint
        try:
            self.model.load_state_dict(_under(tensors, "model."))
        except RuntimeError as error:
            raise VPRError("the checkpoint does not fit its config.json") from error
        for name, parameter in self.model.named_parameters():
            self.optimiser.state[parameter] = {
                key: value.to(parameter.device)
                for key, value in _under(tensors, f"adam.{name}.").items()
            }
        levels = range(2, self.config.model.levels + 1)
        windows = tuple(Window(**_under(tensors, f"window.{n}.")) for n in levels)
        self.windows = tree_map(lambda tensor: tensor.to(self.model.usual.device), windows)
        self.noise.set_state(tensors["noise"])
        self.step = notes["step"]
        self.rehearsed = notes.get("rehearsed", 0.0)  # older runs never did
        self.curve.restore(notes["curve"])
        self.batches.restore(notes)
        if self.batches.under_way:
            carried = _under(tensors, "carried.")
            # Copied to where tensors usually lie: products round by alignment.
            leaves = [carried[str(place)].clone() for place in range(len(carried))]
            self.carried = tree_filled(self._carried_anew(), leaves)

    def batch(self) -> Tensor:
        """The next training batch (B, T, *frame)."""
        parts = self.config.training.long_parts if self._is_long(self.step) else 1
        return self.batches.next(*self.shape(), parts)

    def shape(self) -> tuple[int, int]:
        """Of the coming step's batch: sequences, frames.

        Transitions need long sequences; what can be seen in one frame is learned first, and the
        cheaper for short ones. So is on which level it belongs. What comes after a level's third or
        fourth event is learned in the end, on sequences that have as many, or on parts of longer
        ones.
        """
        training, schedule = self.config.training, self.config.schedule
        if self._is_long(self.step):
            return training.batch_size, training.long_length
        longest = training.length
        if schedule.waits and self.curve.settled is None:
            longest = training.settling_length
        elif self.step < self._sorted():
            longest = training.sorting_length
        return training.batch_size, min(longest, training.length)

    def weights(self, back: int = 0) -> Weights:
        """Of the coming step's loss, or of the one so many steps `back`."""
        step, levels = self.step - back, self.config.model.levels
        weights = self.config.schedule.weights(step, levels, self.curve.settled)
        training, long = self.config.training, self._is_long(step)
        if long or (training.recognition_early and weights.expected):
            weights = weights._replace(recognition=training.recognition)
        if long:
            foresight, painted = training.foresight, training.long_painted
            weights = weights._replace(foresight=foresight, painted=painted)
        return weights

    def _is_long(self, step: int) -> bool:
        """Does the step belong to the last stage, when everything is learned but long jumps?"""
        return self.config.schedule.waits and self._decayed() <= step < self.last()

    def last(self) -> int:
        """The run's last step, as far as it is known."""
        training = self.config.training
        if not self.config.schedule.waits or self.curve.settled is None:
            return training.steps
        return min(training.steps, self._decayed() + training.long_steps)

    @property
    def is_trained(self) -> bool:
        """Is there nothing left but to rehearse?"""
        return self.step >= self.last()

    @property
    def is_finished(self) -> bool:
        asked = self.config.training.rehearsal_steps > 0
        return self.is_trained and (self.rehearsed > 0 or not asked)

    def learning_rate(self) -> float:
        """Of the coming step."""
        waiting = self.config.schedule.waits and self.curve.settled is None
        decayed = 0 if waiting else max(self.step - self._sorted(), 0)
        rate = learning_rate(self.step, decayed, self.config.training)
        return rate * self._landing() if self._is_long(self.step) else rate

    def _landing(self) -> float:
        """1, and in the last steps down to 0: jumps go astray on what a rate leaves unsettled."""
        steps = self.config.training.landing_steps
        return min((self.last() - self.step) / steps, 1.0) if steps else 1.0

    def _sorted(self) -> int:
        """The step at which features have found their level.

        From here on sequences are long and the learning rate falls.
        """
        settled = self.curve.settled if self.config.schedule.waits else 0
        return (settled or 0) + self.config.schedule.sorting(self.config.model.levels)

    def _decayed(self) -> int:
        """The step at which the learning rate has fallen, once the run has settled."""
        if self.curve.settled is None:
            return self.config.training.steps
        return self._sorted() + self.config.training.decay_steps

    def initial_state(self) -> State:
        """Of the coming step: where the last one ended, if its sequences go on, or a fresh one.

        Each place in the batch keeps its windows of D_st.
        """
        if self.carried is not None:
            return self.carried.state
        state = self.model.initial(self.config.training.batch_size)
        return state if self.windows is None else state._replace(windows=self.windows)

    def _carried_anew(self) -> Carried:
        """As if a first part had just begun."""
        state = self.initial_state()
        led = tuple(block.d_next for block in state.blocks[1:])
        return Carried(state, led if self.config.training.foresight else None)

    def advance(self, loss: Loss, reconstruction: float) -> None:
        """A step is done, which had this loss."""
        self.windows = loss.state.windows
        self.carried = Carried(loss.state, loss.led) if self.batches.under_way else None
        self.model.remember(loss.state.windows)
        self.curve.push(self.step, reconstruction)
        self.step += 1

    def _start_at_data_mean(self) -> None:
        """An untrained decoder paints the mean frame of the data; other starts learn late."""
        video = self.batch()
        check_values(video, self.config.model)
        mean = video.mean((0, 1, *range(3, video.dim())))
        self.model.codec.set_output(self.model.likelihood.level(mean).to(self.model.usual))


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
                if session.is_trained and session.step < until and not stopped():
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
        if not steps or session.is_finished:
            return

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


def learning_rate(step: int, decayed: int, training: TrainingConfig) -> float:
    """A linear rise, then cosine decay from the first rate to the final one, then flat.

    `decayed`: steps since the decay began.
    """
    share = min(decayed / training.decay_steps, 1.0)
    low, high = training.final_learning_rate, training.learning_rate
    risen = min((step + 1) / max(training.warmup_steps, 1), 1.0)
    return risen * (low + (high - low) * 0.5 * (1 + math.cos(math.pi * share)))


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


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


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
