"""DataLoader: complete batches, one stream per worker, reproducible seeds."""

from itertools import islice

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from vpr.data import Batch, Dataset, MovingBall, Sequences, ThreeDShapesDynamic, training_rng


def take(data: Dataset, workers: int, seed: int = 3) -> list[Batch]:
    loader = DataLoader(Sequences(data, 5, seed), batch_size=2, num_workers=workers)
    return list(islice(loader, 4))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("data", [MovingBall(size=16), ThreeDShapesDynamic()])
def test_batches_of_a_loader(data: Dataset, workers: int) -> None:
    batches, again = take(data, workers), take(data, workers)
    for batch in batches:
        assert batch.frames.shape == (2, 5, *data.frame)
        assert batch.frames.dtype == torch.float32
        assert all(marks.shape == (2, 5) for marks in batch.changes.values())
        assert batch.factors.keys() == batch.changes.keys()
    frames = torch.cat([batch.frames for batch in batches])
    assert torch.equal(frames, torch.cat([batch.frames for batch in again]))
    # No worker repeats what another gave.
    assert len({sequence.numpy().tobytes() for sequence in frames}) == 8


def test_seeds_are_streams_apart() -> None:
    ball = MovingBall(size=16)
    one, other = (take(ball, 0, seed)[0].frames for seed in (3, 4))
    assert not torch.equal(one, other)
    training = ball.batch(1, 5, training_rng(3)).frames
    assert not np.array_equal(training[0], one[0].numpy())
