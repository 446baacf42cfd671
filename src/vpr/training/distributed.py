"""Training with several processes: each takes a part of every batch, and all do the same steps.

Every process draws the complete batch, noise and random updates from the same seeds, and keeps its
own rows. Gradients, KL divergences and metrics are averaged, and the windows of D_st of all
sequences are gathered after each step. The session is therefore the same in every process, and the
same as in a single process with the complete batch. No other state is carried from step to step.

Lightning Fabric starts the processes, or finds those that torchrun has started.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import torch
import torch.distributed as dist
from lightning_fabric import Fabric
from torch import Tensor, nn

from vpr.errors import VPRError
from vpr.events import RandomUpdates, Rule, Window
from vpr.utils.tree import Tree, tree_map

Strategy = Literal["auto", "ddp"]
STRATEGIES: tuple[Strategy, ...] = ("auto", "ddp")
Value = TypeVar("Value")

PROCESS_LOST = (
    "another process of this run ended: all have stopped, and the last checkpoint is intact"
)


class ProcessLostError(VPRError):
    """Another process of the run has ended."""


def is_main_process() -> bool:
    """Whether this process writes the run folder and reports."""
    return not dist.is_initialized() or dist.get_rank() == 0


def default_devices() -> int:
    """The number of processes that torchrun started on this machine, or 1."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", 1))


def default_nodes() -> int:
    """The number of machines on which torchrun started processes, or 1."""
    return int(os.environ.get("GROUP_WORLD_SIZE", 1))


class ProcessGroup:
    """The processes that train one model; usually this process alone."""

    def __init__(
        self, accelerator: str, devices: int = 1, nodes: int = 1, strategy: Strategy = "auto"
    ) -> None:
        if devices < 1 or nodes < 1:
            raise VPRError(f"devices and nodes must be 1 or more, got {devices} and {nodes}")
        parent = os.getppid()
        logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
        try:
            self.fabric = Fabric(
                accelerator=accelerator,
                devices=devices,
                num_nodes=nodes,
                strategy="ddp" if devices * nodes > 1 else strategy,
            )
            self.fabric.launch()
        except Exception as error:  # Lightning has a separate type for each missing device
            if devices * nodes > 1:
                reason = " ".join(str(error).split())
                raise VPRError(f"cannot start {devices * nodes} processes: {reason}") from error
            raise VPRError(
                f"accelerator {accelerator!r} is not available on this machine"
            ) from error
        self.rank, self.size = self.fabric.global_rank, self.fabric.world_size
        self._parent = parent
        if self.rank:
            logging.getLogger("vpr").setLevel(logging.ERROR)

    @property
    def is_single(self) -> bool:
        return self.size == 1

    @contextmanager
    def report_errors_once(self) -> Iterator[None]:
        """If all processes fail with an error, only one process per machine reports it."""
        try:
            yield
        except VPRError as error:
            if self.is_single or self._reports(error):
                raise
            raise SystemExit(1) from None

    def _reports(self, error: VPRError) -> bool:
        local = self.fabric.local_rank
        if local == 1 and isinstance(error, ProcessLostError):  # perhaps the first process is dead
            time.sleep(1.0)
            return os.getppid() != self._parent
        return local == 0

    def check_batch_size(self, batch: int) -> None:
        if batch % self.size:
            raise VPRError(
                f"a batch of {batch} sequences cannot be divided among {self.size} processes: "
                "change --training.batch-size or --devices"
            )

    def broadcast(self, make: Callable[[], Value]) -> Value:
        """Call `make` in the first process; return its value, or raise its error, in all."""
        if self.is_single:
            return make()
        found: list[Any] = [None, None]
        if self.rank == 0:
            try:
                found[0] = make()
            except VPRError as error:
                found[1] = str(error)
        _call(dist.broadcast_object_list, found)
        if found[1] is not None:
            raise VPRError(found[1])
        return found[0]  # type: ignore[no-any-return]

    def shard(self, tree: Tree, axis: int = 0) -> Tree:
        """Select the rows of this process from tensors of the complete batch."""

        def take(tensor: Tensor) -> Tensor:
            count = tensor.shape[axis] // self.size
            return tensor.narrow(axis, self.rank * count, count)

        return tree if self.is_single else tree_map(take, tree)

    def shard_frames(self, frames: Tensor | None, sequences: int, length: int) -> Tensor | None:
        """The same for indices into the flattened batch, with equal numbers for each sequence."""
        if frames is None or self.is_single:
            return frames
        first = self.rank * (sequences // self.size) * length
        return self.shard(frames.view(sequences, -1)).flatten() - first

    def local_rule(self, rule: Rule, sequences: int, length: int, levels: int) -> Rule:
        """The rule with the random updates that belong to the sequences of this process."""
        if self.is_single or not isinstance(rule, RandomUpdates):
            return rule
        drawn = torch.zeros(levels - 1, length, sequences, dtype=torch.bool)
        for t in range(1, length):  # in the order of a process with the whole batch
            for n in range(levels - 1):
                drawn[n, t] = torch.rand(sequences, generator=rule.generator) < rule.probability
        part = self.shard(drawn, axis=2).to(self.fabric.device)
        return DrawnUpdates(rule.rule, rule.probability, rule.generator, part)

    def mean(self, value: Tensor) -> Tensor:
        """The mean over all processes, without gradients."""
        return value if self.is_single else self._sum(value) / self.size

    def any(self, value: bool) -> bool:
        return value if self.is_single else bool(self._sum(torch.tensor(float(value))))

    def gather_windows(self, windows: tuple[Window, ...]) -> tuple[Window, ...]:
        """Gather the windows of all sequences from all processes."""
        if self.is_single:
            return windows
        return tree_map(lambda tensor: _gathered(tensor).flatten(0, 1), windows)

    def average_gradients(self, model: nn.Module) -> None:
        """Average over all processes. A weight that no process used keeps no gradient."""
        if self.is_single:
            return
        weights = list(model.parameters())
        used = torch.tensor([float(weight.grad is not None) for weight in weights])
        grads = [w.grad if w.grad is not None else torch.zeros_like(w) for w in weights]
        mean = self.mean(torch.cat([grad.flatten() for grad in grads]))
        parts = torch.split(mean, [weight.numel() for weight in weights])
        for weight, part, count in zip(weights, parts, self._sum(used).tolist(), strict=True):
            weight.grad = part.view_as(weight) if count else None

    def _sum(self, value: Tensor) -> Tensor:
        total = value.detach().clone().to(self.fabric.device)
        _call(dist.all_reduce, total)
        return total


@dataclass(frozen=True)
class DrawnUpdates(RandomUpdates):
    """Random updates that were drawn before the step."""

    drawn: Tensor  # (N − 1, T, B)

    def draw(self, level: int, time: Tensor) -> Tensor:
        return self.drawn[level - 2].gather(0, time.unsqueeze(0)).squeeze(0)


def _gathered(value: Tensor) -> Tensor:  # (processes, *value)
    parts = [torch.empty_like(value) for _ in range(dist.get_world_size())]
    _call(dist.all_gather, parts, value.contiguous())
    return torch.stack(parts)


def _call(collective: Callable[..., Any], *arguments: Any) -> None:
    try:
        collective(*arguments)
    except RuntimeError as error:  # also of NCCL, whose errors are of this type
        raise ProcessLostError(PROCESS_LOST) from error
