"""Factors of predicted frames, and the events among them."""

import numpy as np
import torch

from tests.baselines.made import model, video
from vpr.evaluation.factor_readers import CHUNK, Reading
from vpr.evaluation.open_loop import PIECE, events_in, read_open_loop


class Brightness:
    """Reads the mean of a frame."""

    def __call__(self, frames: torch.Tensor) -> Reading:
        return {"mean": frames.mean((-3, -2, -1)).numpy()}


def test_predicted_frames_are_read_in_order() -> None:
    net, seen = model("cw-vae").eval(), video(batch=CHUNK + 1)
    found = read_open_loop(net, Brightness(), seen, PIECE + 3, samples=False)["mean"]
    assert found.shape == (CHUNK + 1, PIECE + 3)
    whole = net.rollout(net.observe(seen).state, 1, PIECE + 3).frames
    np.testing.assert_allclose(found, whole.mean((-3, -2, -1)).numpy())


def test_samples_depend_on_the_seed_only() -> None:
    net, seen = model("vta").eval(), video()
    found = [read_open_loop(net, Brightness(), seen, 5, seed=s)["mean"] for s in (0, 0, 1)]
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_events_are_changes() -> None:
    decoded = np.array([[2, 2, 3, 3, 0], [1, 2, 3, 0, 1], [4, 4, 4, 4, 4]])
    found = events_in(decoded, last=np.array([2, 0, 4]), count=3)
    assert found.tolist() == [[3, 0, -1], [1, 2, 3], [-1, -1, -1]]
