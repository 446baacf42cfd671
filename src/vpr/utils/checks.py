"""Checks of inputs, with one-line error messages."""

from __future__ import annotations

import torch
from torch import Tensor

from vpr.config import ModelConfig
from vpr.data import Dataset
from vpr.errors import VPRError
from vpr.state import State


def check_frames(
    frames: Tensor, leading: tuple[str, ...], config: ModelConfig, dtype: torch.dtype
) -> None:
    """Check type, shape (*leading, *frame) and dtype."""
    if not isinstance(frames, Tensor):
        raise VPRError(f"expected a torch.Tensor, got {type(frames).__name__}: use torch.as_tensor")
    want = ", ".join([*leading, *map(str, config.frame)])
    k = len(leading)
    if frames.dim() != k + len(config.frame) or tuple(frames.shape[k:]) != config.frame:
        raise VPRError(f"expected shape ({want}), got {tuple(frames.shape)}")
    if 0 in frames.shape:
        raise VPRError(f"no frames: got shape {tuple(frames.shape)}")
    if not frames.is_floating_point():
        raise VPRError(f"frames must be floats in [0, 1], got {frames.dtype}: use .float() / 255")
    if frames.dtype != dtype:
        raise VPRError(f"the model computes in {dtype}, the frames are {frames.dtype}: use .to()")


def check_values(video: Tensor, config: ModelConfig) -> None:
    """Check that all values are finite, and those of images in [0, 1]."""
    low, high = (float(v) for v in video.aminmax())
    if not (low > float("-inf") and high < float("inf")):  # NaN fails both
        raise VPRError("video has NaN or infinite values: replace or drop those frames")
    bounded = len(config.frame) == 3 or config.likelihood == "bernoulli"
    if bounded and (low < 0 or high > 1):
        raise VPRError(f"values must lie in [0, 1], got {low:g} to {high:g}: divide 8-bit by 255")


def check_noise(noise: Tensor | None, shape: tuple[int, ...]) -> None:
    if noise is not None and tuple(noise.shape) != shape:
        raise VPRError(f"noise must have shape {shape}, got {tuple(noise.shape)}")


def check_state(state: State, config: ModelConfig, batch: int | None = None) -> None:
    """Check that a state belongs to a model of this configuration and, if given, batch size."""
    if batch is not None and len(state.time) != batch:
        raise VPRError(f"the state is of {len(state.time)} sequences, but the video has {batch}")
    if len(state.blocks) != config.levels:
        raise VPRError(f"the state has {len(state.blocks)} levels, not {config.levels}")
    sizes = state.blocks[0].d.shape[-1], state.blocks[0].s.shape[-1]
    if sizes != (config.width, config.state_size):
        raise VPRError(
            f"the state belongs to another model: it has width {sizes[0]} and state size "
            f"{sizes[1]}, not {config.width} and {config.state_size}"
        )


def check_level(level: int, config: ModelConfig) -> None:
    if not 1 <= level <= config.levels:
        raise VPRError(f"level must be 1 to {config.levels}, got {level}")


def check_count(name: str, count: int) -> None:
    if count < 1:
        raise VPRError(f"{name} must be 1 or more, got {count}")


def check_request(config: ModelConfig, data: Dataset, sequences: int, length: int) -> None:
    """Raise an error if the model cannot be evaluated on this data."""
    if sequences < 1 or length < 2:
        raise VPRError(
            f"evaluation needs 1 or more sequences of 2 or more frames, got {sequences} of {length}"
        )
    if tuple(data.frame) != config.frame:
        raise VPRError(f"the model needs frames of {config.frame}, the data has {data.frame}")
