"""Everything that changes while training, and so everything that a checkpoint holds."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from vpr.config import RunConfig, TrainingConfig
from vpr.data import training_rng
from vpr.errors import VPRError
from vpr.events import RandomUpdates, Rule, Subjective, Window
from vpr.model import VPR
from vpr.state import State, Trace
from vpr.training.checkpoint import Checkpoint
from vpr.training.stages import Stage, StageSchedule
from vpr.utils.checks import check_values
from vpr.utils.printable import printable
from vpr.utils.tree import tree_map

ESTIMATION_FRAMES = 256  # frames from which the data's mean and variation are estimated
EMA_DECAY = 0.95  # of the moving average of the reconstruction


class Session:
    """A run in progress: model, optimiser, data stream, random generators and stages."""

    def __init__(self, config: RunConfig, device: torch.device | str = "cpu") -> None:
        self.config = config
        torch.manual_seed(config.seed)
        self.model = self.make_model().to(device)
        self.rule = self.model.rule
        self.optimiser = self.make_optimiser()
        self.rng = training_rng(config.seed)
        self.noise = torch.Generator().manual_seed(config.seed)  # of the latent states
        self.random_updates_rng = torch.Generator().manual_seed(config.seed + 2**32)
        self.decoded_frames_rng = torch.Generator().manual_seed(config.seed + 2**33)
        self.schedule = StageSchedule(config.stages, config.training.steps)
        self.windows: tuple[Window, ...] | None = None
        self.step = 0
        self.explained = 0.0  # share of the frames' variation that is reconstructed, on average
        self.nll_of_mean, self.nll_of_itself = self._estimate_from_data()

    def make_model(self) -> VPR:
        """The untrained model."""
        return VPR(self.config.model)

    def make_optimiser(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(
            self.model.parameters(),
            lr=self.config.training.learning_rate,
            fused=self.model.device.type in ("cpu", "cuda"),
        )

    def checkpoint(self) -> Checkpoint:
        tensors = {f"model.{k}": v for k, v in self.model.state_dict().items()}
        for name, parameter in self.model.named_parameters():
            for key, value in self.optimiser.state.get(parameter, {}).items():
                tensors[f"adam.{name}.{key}"] = value
        tensors |= _window_tensors(self.windows or ())
        tensors |= {name: each.get_state() for name, each in self._generators().items()}
        notes = {
            "step": self.step,
            "data": self.rng.bit_generator.state,
            "explained": self.explained,
            "ends": self.schedule.stage_ends,
        }
        return Checkpoint(tensors, notes)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint, which is checked first."""
        tensors, notes = checkpoint
        check_tensors(tensors, self._template(tensors))
        step, ends, explained = self._checked_progress(notes)
        try:
            self.rng.bit_generator.state = notes["data"]
            for name, generator in self._generators().items():
                generator.set_state(tensors[name])
        except (KeyError, TypeError, ValueError, OverflowError, RuntimeError) as error:
            raise VPRError("the checkpoint has random generators of another kind") from error
        self.model.load_state_dict(_under(tensors, "model."))
        for name, parameter in self.model.named_parameters():
            self.optimiser.state[parameter] = {
                key: value.to(parameter.device)
                for key, value in _under(tensors, f"adam.{name}.").items()
            }
        self.restore_windows(tensors)
        self.step, self.explained = step, explained
        # If the run was extended, its last stage becomes longer.
        self.schedule.stage_ends = [*ends[:-1], self.last()]

    def _checked_progress(self, notes: dict[str, Any]) -> tuple[int, list[int], float]:
        step, ends, explained = (notes.get(name) for name in ("step", "ends", "explained"))
        if type(step) is not int or not 1 <= step <= self.last():
            raise VPRError(f"the checkpoint has no step of 1 to {self.last()}")
        if (
            not isinstance(ends, list)
            or len(ends) != len(self.config.stages)
            or any(type(end) is not int for end in ends)
            or not all(a <= b for a, b in pairwise([0, *ends, self.last()]))
        ):
            raise VPRError("the checkpoint has no ends of the stages")
        if not isinstance(explained, float) or not math.isfinite(explained):
            raise VPRError("the checkpoint has no share of the variation that is explained")
        return step, ends, explained

    def _template(self, found: dict[str, Tensor]) -> dict[str, Tensor]:
        """Tensors with the names, shapes and types of those in a checkpoint.

        Adam has no state for a parameter without gradients: of a level that never updated.
        """
        tensors = {f"model.{k}": v for k, v in self.model.state_dict().items()}
        for name, parameter in self.model.named_parameters():
            if f"adam.{name}.step" not in found:
                continue
            tensors[f"adam.{name}.step"] = torch.zeros(())
            tensors |= {f"adam.{name}.{key}": parameter for key in self._moments()}
        tensors |= _window_tensors(self.initial_windows())
        return tensors | {name: each.get_state() for name, each in self._generators().items()}

    def _moments(self) -> tuple[str, ...]:
        """Names of the averages that Adam stores for each parameter."""
        amsgrad = self.optimiser.defaults["amsgrad"]
        return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")[: 3 if amsgrad else 2]

    def initial_windows(self) -> tuple[Window, ...]:
        """The windows of D_st of a new run."""
        return self.model.initial(self.config.training.batch_size).windows

    def restore_windows(self, tensors: dict[str, Tensor]) -> None:
        levels = range(2, self.config.model.levels + 1)
        windows = tuple(Window(**_under(tensors, f"window.{n}.")) for n in levels)
        self.windows = tree_map(lambda tensor: tensor.to(self.model.device), windows)

    def batch(self) -> Tensor:
        """The next training batch (B, T, *frame)."""
        training = self.config.training
        drawn = self.config.data.batch(training.batch_size, training.length, self.rng)
        return torch.from_numpy(drawn.frames)

    def decoded(self) -> Tensor | None:
        """The frames of the flattened batch to decode in the coming step; None: all."""
        training = self.config.training
        if not 0 < training.decoded_frames < training.length:
            return None
        order = torch.rand(training.batch_size, training.length, generator=self.decoded_frames_rng)
        frames = order.argsort(1)[:, : training.decoded_frames]  # (B, K) without repetition
        starts = torch.arange(training.batch_size).unsqueeze(1) * training.length
        return (frames + starts).flatten().to(self.model.device)

    def stage(self, step: int | None = None) -> Stage:
        """Of the coming step, or of another."""
        return self.schedule.at(self.step if step is None else step)[0]

    def beta(self) -> list[float]:
        """β of each level at the coming step."""
        stage, progress = self.schedule.at(self.step)
        return [stage.beta_at(progress, n + 1) for n in range(self.config.model.levels)]

    def learning_rate(self) -> float:
        """Of the coming step."""
        decayed = self.schedule.decayed(self.step)
        return learning_rate(self.step, decayed, self.config.training)

    def training_rule(self) -> Rule:
        """The rule of the coming step, with the random updates of its stage."""
        stage, rule = self.stage(), self.rule_at(self.step)
        if not stage.random_updates or not isinstance(rule, Subjective):
            return rule
        return RandomUpdates(rule, stage.random_updates, self.random_updates_rng)

    def rule_at(self, step: int) -> Rule:
        """The model's rule with only those criteria that the stage of this step has.

        A model with only one criterion keeps it in every stage that has any.
        """
        rule, criteria = self.rule, self.stage(step).criteria
        if not isinstance(rule, Subjective):
            return rule
        one = bool(criteria) and rule.expected != rule.unexpected
        return replace(
            rule,
            expected=rule.expected and (one or "CE" in criteria),
            unexpected=rule.unexpected and (one or "CU" in criteria),
        )

    def initial_state(self) -> State:
        """Before the first frame. Each place in the batch keeps its windows of D_st."""
        state = self.model.initial(self.config.training.batch_size)
        return state if self.windows is None else state._replace(windows=self.windows)

    def advance(self, trace: Trace, reconstruction: float) -> None:
        """Record that a step is done; `reconstruction`: its nats per frame, without weight."""
        self.windows = trace.state.windows
        self.model.update_typical_kl(self.windows)
        explained = (self.nll_of_mean - reconstruction) / self.variation
        self.explained += (1 - EMA_DECAY) * (explained - self.explained)
        if self.explained >= self.stage().until_explained:
            self.schedule.end_stage(self.step + 1)
        self.step += 1

    @property
    def variation(self) -> float:
        """Of the frames around their mean, in nats per frame."""
        return max(self.nll_of_mean - self.nll_of_itself, 1e-6)

    @property
    def reconstruction_weight(self) -> float:
        """Makes the variation worth `frame_nats`."""
        nats = self.config.training.frame_nats
        return nats / self.variation if nats else 1.0

    def last(self) -> int:
        """The run's last step."""
        return self.config.training.steps

    @property
    def is_finished(self) -> bool:
        return self.step >= self.last()

    def _generators(self) -> dict[str, torch.Generator]:
        """By the names of their states in a checkpoint."""
        return {
            "noise": self.noise,
            "chance": self.random_updates_rng,
            "selection": self.decoded_frames_rng,
        }

    @torch.no_grad()
    def _estimate_from_data(self) -> tuple[float, float]:
        """Start the decoder at the mean colour.

        Returns the nats per frame if every frame is reconstructed as the mean frame, and if every
        frame is reconstructed exactly.
        """
        training, likelihood = self.config.training, self.model.likelihood
        count = math.ceil(ESTIMATION_FRAMES / training.length)
        video = torch.from_numpy(self.config.data.batch(count, training.length, self.rng).frames)
        check_values(video, self.config.model)
        mean = video.mean((0, 1, *range(3, video.dim())))
        self.model.codec.set_output(likelihood.level(mean).to(self.model.device, self.model.dtype))
        frames = video.flatten(0, 1)
        of_mean = likelihood.nll(likelihood.level(frames.mean(0)).expand_as(frames), frames)
        of_itself = likelihood.nll(likelihood.level(frames), frames)
        return float(of_mean) / len(frames), float(of_itself) / len(frames)


def learning_rate(step: int, decayed: float, training: TrainingConfig) -> float:
    """A linear rise over the warm-up, then cosine decay over the stages that have it.

    `decayed`: the share of the decay that is done.
    """
    low, high = training.final_learning_rate, training.learning_rate
    risen = min((step + 1) / max(training.warmup_steps, 1), 1.0)
    return risen * (low + (high - low) * 0.5 * (1 + math.cos(math.pi * decayed)))


def check_tensors(tensors: dict[str, Tensor], template: dict[str, Tensor]) -> None:
    """Raise an error unless the tensors of a checkpoint have the right form and finite values."""
    for name in sorted(template.keys() | tensors.keys()):
        found, right = tensors.get(name), template.get(name)
        if found is None or right is None or found.shape != right.shape:
            raise VPRError(
                f"the checkpoint does not fit its config.json: {printable(name)} differs"
            )
        if found.dtype != right.dtype:
            raise VPRError(f"the checkpoint is damaged: {name} is {found.dtype}, not {right.dtype}")
        # Of an untrained level, the typical D_st is NaN.
        whole = name == "model.typical_kl" or bool(found.isfinite().all())
        positive = name.startswith(("window.", "adam.")) and not name.endswith("exp_avg")
        if not whole or (positive and bool((found < 0).any())):
            raise VPRError(f"the checkpoint is damaged: {name} has impossible values")


def _window_tensors(windows: tuple[Window, ...]) -> dict[str, Tensor]:
    return {
        f"window.{level}.{key}": value
        for level, window in enumerate(windows, start=2)
        for key, value in window._asdict().items()
    }


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
