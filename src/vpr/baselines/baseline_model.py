"""What the baselines have in common: image network, likelihood, loss, and the types of results.

A baseline has the interface of `VPR` as far as training and evaluation use it. Two things differ.
Both baselines infer a state from later frames too, so they observe complete videos and not one
frame at a time. Their boundaries have no evidence of CE and CU.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from vpr.baselines.baseline_config import CWVAEConfig, VTAConfig
from vpr.beliefs import Belief
from vpr.config import make_rule
from vpr.errors import VPRError
from vpr.events import Evidence, Rule
from vpr.nets import Codec, make_codec
from vpr.nets.likelihood import make_likelihood
from vpr.utils.checks import check_frames, check_noise, check_values
from vpr.utils.tree import shapes_in_repr


@shapes_in_repr
class BaselineLevel(NamedTuple):
    """One level over time."""

    s: Tensor  # (B, T, S) the current state at each frame
    q: Belief  # (B, T, S) the posterior at each frame, or at the current update
    p: Belief  # (B, T, S) its prior
    kl: Tensor  # (B, T) contribution of the level to −ELBO at each frame
    evidence: Evidence  # (B, T) each; only `boundary` is known


@shapes_in_repr
class BaselineTrace(NamedTuple):
    """The result of `Baseline.observe`."""

    c0: Tensor  # (B, T, D) the input of the decoder; see `Baseline.reconstruct`
    levels: tuple[BaselineLevel, ...]  # level 1 first
    state: NamedTuple  # after the last frame: where `rollout` begins


@shapes_in_repr
class BaselineLoss(NamedTuple):
    """The terms of −ELBO, in nats per frame; see `vpr.state.Loss`."""

    total: Tensor  # ()
    reconstruction: Tensor  # ()
    kl: Tensor  # (N,)
    trace: BaselineTrace

    @property
    def update_rate(self) -> Tensor:
        """(N,) share of frames at which each level updated."""
        return torch.stack([level.evidence.boundary.float().mean() for level in self.trace.levels])


@shapes_in_repr
class BaselineRollout(NamedTuple):
    """K steps of one level."""

    frames: Tensor  # (B, K, *frame)
    boundary: Tensor  # (B, K, N) which levels updated at the step
    state: NamedTuple  # after the last step; `rollout` can continue from it


class Baseline(nn.Module):
    """Base class of the baselines. A subclass defines `_infer` and `rollout`."""

    config: VTAConfig | CWVAEConfig
    rule: Rule

    def __init__(self, config: VTAConfig | CWVAEConfig, codec_width: int) -> None:
        super().__init__()
        self.config = config
        self.rule = make_rule(config)  # unused; the training loop sets it
        self.likelihood = make_likelihood(config.likelihood)
        self.codec = self._make_codec(codec_width)
        # Mean and standard deviation of the pixels, with which frames are normalised.
        self.pixel_mean: Tensor
        self.pixel_std: Tensor
        self.register_buffer("pixel_mean", torch.tensor(0.0))
        self.register_buffer("pixel_std", torch.tensor(1.0))
        self.steps_done: Tensor  # of training
        self.register_buffer("steps_done", torch.zeros((), dtype=torch.long))

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.steps_done.device

    @property
    def dtype(self) -> torch.dtype:
        """The floating-point type of the weights."""
        return next(self.parameters()).dtype

    def noise(self, batch: int, length: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw ε (T, N, B, E) for `observe` and `loss`, on the CPU so that seeds are portable."""
        shape = (length, self.config.levels, batch, self.noise_size)
        return torch.randn(shape, generator=generator, dtype=self.dtype).to(self.device)

    @property
    def noise_size(self) -> int:
        """E, the random numbers that a level needs at a frame."""
        return self.config.state_size

    def observe(
        self, video: Tensor, state: None = None, noise: Tensor | None = None
    ) -> BaselineTrace:
        """Process a whole video (B, T, *frame) from its beginning.

        `noise` samples states and boundaries; without it they are the means of their posteriors
        and the more probable choice.
        """
        return self._observe(self._layout(video, state), video, noise)

    def loss(
        self,
        video: Tensor,
        state: None = None,
        noise: Tensor | None = None,
        beta: float = 1.0,
        decoded: Tensor | None = None,
    ) -> BaselineLoss:
        """−ELBO in nats per frame; `decoded` selects frames as in `VPR.loss`."""
        y = self._layout(video, state)
        trace = self._observe(y, video, noise)
        c0 = trace.c0.flatten(0, 1)
        if decoded is not None:
            c0, y = c0[decoded], y[decoded]
        nll = self.likelihood.nll(self.codec.decode(c0), y)
        reconstruction = nll / len(c0) / self.config.obs_std**2
        kl = torch.stack([level.kl.mean() for level in trace.levels])
        return BaselineLoss(reconstruction + beta * kl.sum(), reconstruction, kl, trace)

    def reconstruct(self, c0: Tensor) -> Tensor:
        """Decode c⁰ (..., D) to frames (..., *frame); images are clamped to [0, 1]."""
        mean = self.likelihood.mean(self.codec.decode(c0.flatten(0, -2)))
        frames = self.codec.to_frames(mean).reshape(*c0.shape[:-1], *self.config.frame)
        return frames.clamp(0, 1) if len(self.config.frame) == 3 else frames

    @torch.no_grad()
    def normalise(self, video: Tensor) -> None:
        """Encode frames relative to the mean and the standard deviation of these."""
        self.pixel_mean.fill_(float(video.mean()))
        self.pixel_std.fill_(float(video.std()) + 1e-6)

    @torch.no_grad()
    def after_step(self) -> None:
        """Count a training step."""
        self.steps_done += 1

    def _make_codec(self, width: int) -> Codec:
        """The image network, shared with VPR."""
        return make_codec(self.config, self.likelihood.output_scale, width=width)

    def _infer(self, x: Tensor, noise: Tensor | None) -> BaselineTrace:
        """From encoded frames (B, T, D) to the trace."""
        raise NotImplementedError

    def _observe(self, y: Tensor, video: Tensor, noise: Tensor | None) -> BaselineTrace:
        batch, length = video.shape[:2]
        check_noise(noise, (length, self.config.levels, batch, self.noise_size))
        x = self.codec.encode((y - self.pixel_mean) / self.pixel_std)
        return self._infer(x.view(batch, length, -1), noise)

    def _layout(self, video: Tensor, state: None) -> Tensor:
        """Check a video and return its frames in the layout of the codec."""
        if state is not None:
            raise VPRError("a baseline observes whole videos: it cannot continue from a state")
        check_frames(video, ("batch", "time"), self.config, self.dtype)
        check_values(video, self.config)
        return self.codec.to_layout(video.flatten(0, 1))


def boundary_only(boundary: Tensor, like: Tensor) -> Evidence:
    """Evidence (B, T) with a boundary but no compared values."""
    return Evidence.not_compared(boundary, like.new_full(boundary.shape, torch.nan))


def step_noise(model: Baseline, batch: int, generator: torch.Generator | None) -> Tensor:
    """ε (N, B, E) of one step of a rollout."""
    return model.noise(batch, 1, generator)[0]
