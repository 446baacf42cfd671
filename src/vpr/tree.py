"""States are trees of tensors (named tuples, tuples, None); this maps over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

Tree = TypeVar("Tree")


def tree_map(fn: Callable[..., Tensor], tree: Tree, *others: Tree) -> Tree:
    """Apply `fn` to the tensors that stand at the same place in each tree."""
    return _map(fn, tree, *others)  # type: ignore[no-any-return]


def _map(fn: Callable[..., Tensor], tree: Any, *others: Any) -> Any:
    if tree is None:
        return None
    if isinstance(tree, Tensor):
        return fn(tree, *others)
    children = [_map(fn, *branch) for branch in zip(tree, *others, strict=True)]
    return type(tree)(*children) if hasattr(tree, "_fields") else tuple(children)


def tree_where(mask: Tensor, new: Tree, old: Tree) -> Tree:
    """Per sequence: `new` where `mask` (B,) holds, `old`, bit for bit, where it does not."""

    def choose(a: Tensor, b: Tensor) -> Tensor:
        return torch.where(mask.view(-1, *[1] * (a.dim() - 1)), a, b)

    return tree_map(choose, new, old)
