"""Batches for training: fresh sequences, and long ones in parts."""

from __future__ import annotations

import json

import numpy as np
import torch
from torch import Tensor

from vpr.batches import Batches
from vpr.data import MovingBall, training_rng

BALL = MovingBall(size=16)


def batches() -> Batches:
    return Batches(BALL, training_rng(5))


def long_ones(count: int, length: int, rng: np.random.Generator) -> Tensor:
    each = [torch.from_numpy(BALL.batch(1, length, rng).frames) for _ in range(count)]
    return torch.cat(each).half().float()


def test_a_sequence_in_one_part_is_a_fresh_one_each_time() -> None:
    ours, rng = batches(), training_rng(5)
    for _ in range(2):
        assert torch.equal(ours.next(3, 4), torch.from_numpy(BALL.batch(3, 4, rng).frames))
        assert not ours.under_way


def test_parts_follow_each_other() -> None:
    ours, rng = batches(), training_rng(5)
    for _ in range(2):
        parts = [ours.next(3, 4, 3) for _ in range(3)]
        assert torch.equal(torch.cat(parts, 1), long_ones(3, 12, rng))
        assert {part.dtype for part in parts} == {torch.float32}
        assert not ours.under_way


def test_what_is_under_way_comes_first() -> None:
    ours = batches()
    ours.next(3, 4, 2)
    assert ours.under_way
    whole = long_ones(3, 8, training_rng(5))
    assert torch.equal(ours.next(3, 6), whole[:, 4:])  # though something else is asked for
    assert ours.next(3, 6).shape[1] == 6


def test_goes_on_from_what_a_checkpoint_keeps() -> None:
    for taken in range(1, 6):
        ours, theirs = batches(), batches()
        for _ in range(taken):
            ours.next(2, 3, 3)
        theirs.restore(json.loads(json.dumps(ours.state())))
        assert theirs.under_way == ours.under_way
        for _ in range(4):
            assert torch.equal(theirs.next(2, 3, 3), ours.next(2, 3, 3))
