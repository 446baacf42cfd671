"""Trees of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from vpr.utils.tree import tree_filled, tree_leaves, tree_map


def test_filled_with_its_own_leaves_it_is_the_same(tiny_model: Callable[..., Any]) -> None:
    state = tiny_model(3).initial(2)
    filled = tree_filled(tree_map(torch.zeros_like, state), tree_leaves(state))
    assert type(filled) is type(state)
    assert all(map(torch.equal, tree_leaves(filled), tree_leaves(state)))
    assert filled.blocks[0].cache is None


def test_leaves_stand_from_left_to_right() -> None:
    one, two, three = torch.arange(3).unbind()
    assert tree_leaves((one, None, (two, (three,)))) == [one, two, three]
