"""What may come in: one clear line for each thing that may not."""

from __future__ import annotations

from torch import Tensor

from vpr.config import ModelConfig
from vpr.errors import VPRError


def check_video(video: Tensor, config: ModelConfig) -> None:
    """(B, T, *frame) of floats."""
    _check_shape(video, ("batch", "time"), config)


def check_frame(frame: Tensor, config: ModelConfig) -> None:
    """(B, *frame) of floats."""
    _check_shape(frame, ("batch",), config)


def check_values(video: Tensor, config: ModelConfig) -> None:
    """Finite, and images in [0, 1]. Looks at every pixel."""
    low, high = (float(v) for v in video.aminmax())
    if not (low > float("-inf") and high < float("inf")):  # NaN fails both
        raise VPRError("video has NaN or infinite values: mend or drop those frames")
    bounded = len(config.frame) == 3 or config.likelihood == "bernoulli"
    if bounded and (low < 0 or high > 1):
        raise VPRError(f"values must lie in [0, 1], got {low:g} to {high:g}: divide 8-bit by 255")


def _check_shape(video: Tensor, leading: tuple[str, ...], config: ModelConfig) -> None:
    if not isinstance(video, Tensor):
        raise VPRError(f"expected a torch.Tensor, got {type(video).__name__}: use torch.as_tensor")
    want = ", ".join([*leading, *map(str, config.frame)])
    k = len(leading)
    if video.dim() != k + len(config.frame) or tuple(video.shape[k:]) != config.frame:
        raise VPRError(f"expected shape ({want}), got {tuple(video.shape)}")
    if 0 in video.shape:
        raise VPRError(f"nothing to look at: shape {tuple(video.shape)} has no frames")
    if not video.is_floating_point():
        raise VPRError(f"frames must be floats in [0, 1], got {video.dtype}: use .float() / 255")
