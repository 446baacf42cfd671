"""Trees of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from vpr.data import MovingBall, training_rng
from vpr.utils.tree import tree_map


def test_map_keeps_the_structure(tiny_model: Callable[..., Any]) -> None:
    state, pairs = tiny_model(3).initial(2), []
    filled = tree_map(torch.ones_like, state)
    mapped = tree_map(lambda one, other: pairs.append((one, other)) or other, state, filled)
    assert type(mapped) is type(state)
    assert mapped.blocks[0].cache is None
    assert all(one.shape == other.shape and bool((other == 1).all()) for one, other in pairs)
    assert torch.equal(mapped.time, torch.ones_like(state.time))


def test_map_visits_the_tensors_in_order() -> None:
    one, two, three = torch.arange(3).unbind()
    visited: list[int] = []
    tree = (one, None, (two, (three,)))
    assert tree_map(lambda each: visited.append(int(each)) or each + 1, tree) == (
        1,
        None,
        (2, (3,)),
    )
    assert visited == [0, 1, 2]


def test_the_repr_of_results_is_short(tiny_model: Callable[..., Any]) -> None:
    model = tiny_model(3, dtype=torch.float32)
    loss = model.loss(torch.rand(2, 4, *model.config.frame))
    trace = loss.trace
    assert repr(loss) == (
        f"Loss(total={loss.total.item():.6g}, reconstruction={loss.reconstruction.item():.6g}, "
        "kl=Tensor(3,), trace=Trace(c0=Tensor(2, 4, 12), "
        "levels=(LevelTrace(…), LevelTrace(…), LevelTrace(…)), state=State(…)))"
    )
    assert "q=Belief(mean=Tensor(2, 4, 3), std=Tensor(2, 4, 3))" in repr(trace.levels[1])
    assert "time=Tensor(2,)" in repr(trace.state)
    batch = MovingBall(size=16).batch(2, 4, training_rng(0))
    assert repr(batch).startswith("Batch(frames=ndarray(2, 4, 3, 16, 16), factors={'position': ")
    for value in (loss, trace, trace.state, trace.levels[2], trace.state.blocks[2], batch):
        assert len(repr(value)) < 1000
