"""Small models and small videos."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.config import ModelConfig, RunConfig, TrainingConfig
from vpr.data import Dataset, MiniworldMaze, MovingBall, Vectors, Video, maze
from vpr.data.maze import RenderFrames
from vpr.data.maze_walk import FRAME as MAZE_FRAME
from vpr.data.maze_walk import Plan
from vpr.model import VPR
from vpr.training.stages import Stage

FRAME = (1, 16, 16)
STAGES = (
    Stage(
        "reconstruct",
        0.3,
        beta=(0.001, 0.001),
        criteria=("CU",),
        random_updates=0.25,
        objectives=("persistence",),
    ),
    Stage(
        "anneal",
        0.3,
        beta=(0.001, 1.0),
        beta_ratio=(0.1, 1.0),
        criteria=("CU",),
        random_updates=0.25,
    ),
    Stage("train", 0.4, decay=True, objectives=("persistence", "overshooting")),
)

torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests do not use the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def blind() -> Iterator[None]:
    """Tests do not need miniworld: a picture of a maze is the camera's position, in bytes."""

    def render_frames(plan: Plan, position: NDArray[np.float32]) -> NDArray[np.uint8]:
        written = position.view(np.uint8)  # (T, 12)
        return np.tile(written, (1, 1024)).reshape(-1, *MAZE_FRAME)

    @contextmanager
    def open_renderer() -> Iterator[RenderFrames]:
        yield render_frames

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maze, "open_renderer", open_renderer)
        yield


def short(data: Dataset) -> Dataset:
    """The same dataset; if it has to be recorded first, with little to record."""
    if isinstance(data, MiniworldMaze):
        return replace(data, walks=3, unseen_walks=2, frames=120)
    if isinstance(data, Video):
        return replace(data, path=str(_noise()))
    if isinstance(data, Vectors):
        return replace(data, path=str(_walk()))
    return data


@cache
def _noise() -> Path:
    """Footage to learn from, if there is anything to learn."""
    path = Path(tempfile.mkdtemp()) / "noise.npy"
    np.save(path, np.random.default_rng(0).integers(0, 255, (400, 12, 12, 3), dtype=np.uint8))
    return path


@cache
def _walk() -> Path:
    """Vectors of 5 features."""
    path = Path(tempfile.mkdtemp()) / "walk.npy"
    np.save(path, np.random.default_rng(0).normal(size=(400, 5)).cumsum(0))
    return path


@pytest.fixture(autouse=True)
def denormals() -> Iterator[None]:
    """Commands flush them, which hypothesis does not like."""
    yield
    torch.set_flush_denormal(False)


@pytest.fixture(scope="session")
def tiny_config() -> Callable[..., ModelConfig]:
    def build(levels: int = 2, **fields: object) -> ModelConfig:
        small = {"width": 12, "state_size": 3, "channels": 4, "frame": FRAME, "network": "folded"}
        return ModelConfig(levels=levels, **{**small, **fields})

    return build


@pytest.fixture(scope="session")
def tiny_model(tiny_config: Callable[..., ModelConfig]) -> Callable[..., VPR]:
    """`loud` scales the encoding of a frame, so that beliefs change and events vary."""

    def build(
        levels: int = 2,
        seed: int = 0,
        loud: float = 3.0,
        dtype: torch.dtype = torch.float64,
        **fields: object,
    ) -> VPR:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = VPR(tiny_config(levels, **fields)).to(dtype)
        with torch.no_grad():
            for weight in model.codec.parameters():
                weight.mul_(loud if weight.shape[0] == model.config.width else 1.0)
        return model

    return build


@pytest.fixture(scope="session")
def scenes() -> Callable[..., Tensor]:
    """Videos (B, T, *frame) of random pictures that stay, with a little noise, for a few frames."""

    def build(
        batch: int = 3,
        length: int = 12,
        seed: int = 0,
        frame: tuple[int, ...] = FRAME,
        dtype: torch.dtype = torch.float64,
    ) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        video = torch.rand(batch, length, *frame, generator=generator)
        stays = torch.rand(batch, length, generator=generator) < 0.6
        for t in range(1, length):
            video[stays[:, t], t] = video[stays[:, t], t - 1]
        grain = 0.02 * torch.randn(video.shape, generator=generator)
        return (video + grain).clamp(0, 1).to(dtype)

    return build


@pytest.fixture(scope="session")
def draw() -> Callable[..., Tensor]:
    """ε (T, N, B, S) in the model's own precision."""

    def build(model: VPR, batch: int = 3, length: int = 12, seed: int = 0) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        return model.noise(batch, length, generator).to(model.dtype)

    return build


def tiny_run(steps: int, levels: int = 2) -> RunConfig:
    """A run of a second through three stages; checkpoints every second step, logs every step."""
    return RunConfig(
        model=ModelConfig(
            levels, state_size=3, width=12, frame=(3, 16, 16), network="folded", channels=4
        ),
        data=MovingBall(size=16),
        training=TrainingConfig(
            steps=steps, batch_size=3, length=4, checkpoint_every=2, log_every=1, learning_rate=3e-3
        ),
        stages=STAGES,
    )
