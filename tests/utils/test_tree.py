"""Trees of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

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
