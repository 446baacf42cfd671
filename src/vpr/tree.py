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


def tree_rows(tree: Tree, rows: Tensor) -> Tree:
    """The sequences `rows` (R,) of a tree of tensors (B, ...)."""

    def take(tensor: Tensor) -> Tensor:
        return tensor if len(rows) == len(tensor) else tensor.index_select(0, rows)

    return tree_map(take, tree)


def tree_put(tree: Tree, rows: Tensor, new: Tree) -> Tree:
    """`tree` with `new` (R, ...) at the sequences `rows`; all others stay, bit for bit."""

    def put(old: Tensor, fresh: Tensor) -> Tensor:
        return fresh if len(rows) == len(old) else old.index_copy(0, rows, fresh)

    return tree_map(put, tree, new)
