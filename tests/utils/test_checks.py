"""Invalid inputs raise one-line errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from vpr.config import ModelConfig, TrainingConfig
from vpr.errors import VPRError
from vpr.utils.checks import check_frames, check_values

IMAGE = ModelConfig(frame=(1, 16, 16))
VECTOR = ModelConfig(frame=(5,), likelihood="gaussian")
BITS = ModelConfig(frame=(5,))


def check_video(video: Any, config: ModelConfig) -> None:
    check_frames(video, ("batch", "time"), config, torch.float32)


def check_frame(frame: Any, config: ModelConfig) -> None:
    check_frames(frame, ("batch",), config, torch.float32)


class TestShapes:
    @pytest.mark.parametrize(
        "shape", [(2, 1, 16, 16), (2, 4, 3, 16, 16), (2, 4, 1, 32, 16), (2, 4, 16, 16, 1), ()]
    )
    def test_wrong_video(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(VPRError, match=r"expected shape \(batch, time, 1, 16, 16\), got"):
            check_video(torch.zeros(shape), IMAGE)

    @pytest.mark.parametrize("shape", [(1, 16, 16), (2, 4, 1, 16, 16), (2, 3, 16, 16)])
    def test_wrong_frame(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(VPRError, match=r"expected shape \(batch, 1, 16, 16\), got"):
            check_frame(torch.zeros(shape), IMAGE)

    def test_wrong_vectors(self) -> None:
        with pytest.raises(VPRError, match=r"expected shape \(batch, time, 5\), got \(2, 3, 4\)"):
            check_video(torch.zeros(2, 3, 4), VECTOR)

    @pytest.mark.parametrize("shape", [(0, 4, 1, 16, 16), (2, 0, 1, 16, 16)])
    def test_no_frames(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(VPRError, match="no frames"):
            check_video(torch.zeros(shape), IMAGE)

    def test_no_sequence(self) -> None:
        with pytest.raises(VPRError, match="no frames"):
            check_frame(torch.zeros(0, 1, 16, 16), IMAGE)

    def test_valid_input(self) -> None:
        check_video(torch.zeros(2, 3, 1, 16, 16), IMAGE)
        check_video(torch.zeros(1, 1, 5), VECTOR)
        check_frame(torch.zeros(2, 1, 16, 16), IMAGE)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.bool])
def test_wrong_type(dtype: torch.dtype) -> None:
    with pytest.raises(VPRError, match=r"frames must be floats.*use \.float\(\) / 255"):
        check_video(torch.zeros(2, 3, 1, 16, 16, dtype=dtype), IMAGE)


def test_other_precision() -> None:
    with pytest.raises(VPRError, match=r"computes in torch.float32, the frames are torch.float64"):
        check_video(torch.zeros(2, 3, 1, 16, 16, dtype=torch.float64), IMAGE)


def test_not_a_tensor() -> None:
    with pytest.raises(VPRError, match=r"expected a torch.Tensor, got list"):
        check_video([[1.0]], IMAGE)


class TestValues:
    @pytest.mark.parametrize("config", [IMAGE, VECTOR, BITS])
    @pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
    def test_not_finite(self, config: ModelConfig, bad: float) -> None:
        video = torch.full((2, 3, *config.frame), 0.5)
        video.view(-1)[7] = bad
        with pytest.raises(VPRError, match="NaN or infinite"):
            check_values(video, config)

    @pytest.mark.parametrize("config", [IMAGE, BITS, ModelConfig(likelihood="gaussian")])
    @pytest.mark.parametrize(("bad", "text"), [(255.0, "0 to 255"), (-0.5, "-0.5 to 0")])
    def test_out_of_range(self, config: ModelConfig, bad: float, text: str) -> None:
        video = torch.zeros(1, 2, *config.frame)
        video.view(-1)[3] = bad
        with pytest.raises(VPRError, match=rf"must lie in \[0, 1\], got {text}: divide 8-bit"):
            check_values(video, config)

    def test_vectors_with_squared_error_may_be_anything(self) -> None:
        check_values(torch.tensor([[[-7.0, 0, 1, 2, 300]]]), VECTOR)

    def test_the_ends_of_the_range_are_in_it(self) -> None:
        check_values(torch.tensor([0.0, 1.0]), IMAGE)


class TestModel:
    """The methods of the model check their inputs."""

    @pytest.mark.parametrize("call", ["observe", "loss"])
    def test_video(self, tiny_model: Callable[..., Any], call: str) -> None:
        enter = getattr(tiny_model(2), call)
        with pytest.raises(VPRError, match="expected shape"):
            enter(torch.zeros(2, 1, 16, 16))
        with pytest.raises(VPRError, match="no frames"):
            enter(torch.zeros(2, 0, 1, 16, 16))
        with pytest.raises(VPRError, match="must be floats"):
            enter(torch.zeros(2, 3, 1, 16, 16, dtype=torch.uint8))

    def test_frame(self, tiny_model: Callable[..., Any]) -> None:
        model = tiny_model(2)
        with pytest.raises(VPRError, match="expected shape"):
            model.step(model.initial(2), torch.zeros(2, 3, 1, 16, 16))


def test_an_error_is_a_value_error() -> None:
    assert issubclass(VPRError, ValueError)


class TestConfig:
    @pytest.mark.parametrize(
        ("fields", "text"),
        [
            ({"levels": 0}, "levels must be 1 or more, got 0"),
            ({"state_size": 0}, "state_size must be 1 or more"),
            ({"width": 0}, "width must be 1 or more"),
            ({"layers": 1}, "layers must be 2 or more"),
            ({"channels": 0}, "channels must be 1 or more"),
            ({"min_std": 0.0}, "min_std must be above 0"),
            ({"frame": (0,)}, "at least 1 feature"),
            ({"frame": (64, 64)}, r"\(channels, height, width\) or \(features,\)"),
            ({"frame": (2, 64, 64)}, "1 or 3 channels"),
            ({"frame": (3, 60, 64)}, "multiples of 16 from 16 to 128"),
            ({"frame": (3, 64, 144)}, "multiples of 16 from 16 to 128"),
        ],
    )
    def test_invalid_arguments_raise(self, fields: dict[str, Any], text: str) -> None:
        with pytest.raises(VPRError, match=text):
            ModelConfig(**fields)

    @pytest.mark.parametrize(
        ("fields", "text"),
        [
            ({"steps": 0}, "steps must be 1 or more, got 0"),
            ({"batch_size": 0}, "batch_size must be 1 or more"),
            ({"checkpoint_every": 0}, "checkpoint_every must be 1 or more"),
            ({"log_every": 0}, "log_every must be 1 or more"),
            ({"length": 1}, "length must be 2 or more: one frame has no events, got 1"),
            ({"learning_rate": 0.0}, "learning_rate must be above 0"),
            ({"clip": 0.0}, "clip must be above 0"),
            ({"final_learning_rate": -1e-5}, "final_learning_rate must be 0 or more"),
            ({"warmup_steps": -1}, "warmup_steps must be 0 or more"),
            ({"frame_nats": -0.1}, "frame_nats must be 0 or more, got -0.1"),
        ],
    )
    def test_invalid_training_raises(self, fields: dict[str, Any], text: str) -> None:
        with pytest.raises(VPRError, match=text):
            TrainingConfig(**fields)
