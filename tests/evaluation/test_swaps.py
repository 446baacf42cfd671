"""Swaps count whose factor is decoded when a level gets the state of another sequence."""

import numpy as np
import torch
from torch import Tensor

from tests.conftest import tiny_run
from vpr import VPR
from vpr.data import MovingBall, evaluation_rng
from vpr.evaluation.factor_readers import Reading
from vpr.evaluation.generated_factors import CHUNK, Swap, swaps
from vpr.generation.generate import decode

COUNT = CHUNK + 3


class Says:
    """Returns preset values and stores the pictures."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.frames = values, list[Tensor]()

    def __call__(self, frames: Tensor) -> Reading:
        start = sum(map(len, self.frames))
        self.frames.append(frames)
        return {"colour": self.values[start : start + len(frames)]}


def test_each_sequence_gets_the_state_of_the_previous_one() -> None:
    torch.manual_seed(0)
    model = VPR(tiny_run(1).model)
    video = torch.from_numpy(MovingBall(size=16).batch(COUNT, 5, evaluation_rng(0)).frames)
    own = np.arange(COUNT) % 6
    own[:3] = 0  # two pairs that do not differ
    for values, wanted in ((own, Swap(1, 0)), (np.roll(own, 1), Swap(0, 1))):
        reader = Says(values)
        assert swaps(model, reader, video, {"colour": own}, 2) == {"colour": wanted}
    with torch.no_grad():
        state = model.observe(video).state
    frames = decode(model, state, 2, state.blocks[1].s.roll(1, 0).unsqueeze(1))[:, 0]
    torch.testing.assert_close(torch.cat(reader.frames), frames)


def test_other_values_count_as_neither() -> None:
    torch.manual_seed(0)
    model = VPR(tiny_run(1).model)
    video = torch.from_numpy(MovingBall(size=16).batch(4, 5, evaluation_rng(0)).frames)
    own = np.array([0, 1, 2, 3])
    assert swaps(model, Says(np.array([0, 0, -1, 5])), video, {"colour": own}, 1)["colour"] == Swap(
        0.25, 0.25
    )
