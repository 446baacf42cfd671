"""Everything that changes while training, and which step belongs to which stage of a run."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from vpr.batches import Batches
from vpr.checkpoint import Checkpoint
from vpr.checks import check_values
from vpr.config import RunConfig, TrainingConfig
from vpr.data import training_rng
from vpr.errors import VPRError
from vpr.events import Window
from vpr.foresight import Led
from vpr.model import VPR
from vpr.schedule import Weights
from vpr.trace import Loss, State
from vpr.tree import tree_filled, tree_leaves, tree_map, tree_put, tree_rows


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
            weights = weights._replace(
                foresight=training.foresight, stale=training.stale, painted=training.long_painted
            )
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
        """Of the coming step: where the last one ended, if its sequences go on, or a fresh one."""
        return self.carried.state if self.carried is not None else self._opening()

    def _opening(self) -> State:
        """Before the first frame. Each place in the batch keeps its windows of D_st."""
        state = self.model.initial(self.config.training.batch_size)
        return state if self.windows is None else state._replace(windows=self.windows)

    def _carried_anew(self) -> Carried:
        """As if a first part had just begun."""
        state = self._opening()
        led = tuple(block.d_next for block in state.blocks[1:])
        return Carried(state, led if self.config.training.foresight else None)

    def _refreshed(self, carried: Carried) -> Carried:
        """With a share of the sequences, the first ones, begun anew.

        Whoever has watched for long foresees what comes, and need not look. On long sequences alone
        a level forgets how to read what it cannot foresee, which is how every sequence begins.
        """
        size, share = self.config.training.batch_size, self.config.training.long_fresh
        rows = torch.arange(math.ceil(share * size), device=self.model.usual.device)
        return tree_put(carried, rows, tree_rows(self._carried_anew(), rows, size), size)

    def advance(self, loss: Loss, reconstruction: float) -> None:
        """A step is done, which had this loss."""
        self.windows = loss.state.windows
        self.carried = None
        if self.batches.under_way:
            self.carried = self._refreshed(Carried(loss.state, loss.led))
        self.model.remember(loss.state.windows)
        self.curve.push(self.step, reconstruction)
        self.step += 1

    def _start_at_data_mean(self) -> None:
        """An untrained decoder paints the mean frame of the data; other starts learn late."""
        video = self.batch()
        check_values(video, self.config.model)
        mean = video.mean((0, 1, *range(3, video.dim())))
        self.model.codec.set_output(self.model.likelihood.level(mean).to(self.model.usual))


def learning_rate(step: int, decayed: int, training: TrainingConfig) -> float:
    """A linear rise, then cosine decay from the first rate to the final one, then flat.

    `decayed`: steps since the decay began.
    """
    share = min(decayed / training.decay_steps, 1.0)
    low, high = training.final_learning_rate, training.learning_rate
    risen = min((step + 1) / max(training.warmup_steps, 1), 1.0)
    return risen * (low + (high - low) * 0.5 * (1 + math.cos(math.pi * share)))


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
