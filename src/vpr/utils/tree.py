"""Functions on trees of tensors: nested named tuples and tuples, with None for no tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from torch import Tensor

Tree = TypeVar("Tree")


def tree_map(fn: Callable[..., Tensor], tree: Tree, *others: Tree) -> Tree:
    """Apply `fn` to the tensors at the same position of each tree."""
    return _map(fn, tree, *others)  # type: ignore[no-any-return]


def _map(fn: Callable[..., Tensor], tree: Any, *others: Any) -> Any:
    if tree is None:
        return None
    if isinstance(tree, Tensor):
        return fn(tree, *others)
    children = [_map(fn, *branch) for branch in zip(tree, *others, strict=True)]
    return type(tree)(*children) if hasattr(tree, "_fields") else tuple(children)


def tree_rows(tree: Tree, rows: Tensor, batch: int) -> Tree:
    """Select the sequences `rows` (R,) of a tree of tensors (B, ...)."""
    if len(rows) == batch:
        return tree
    return tree_map(lambda tensor: tensor.index_select(0, rows), tree)


def tree_put(tree: Tree, rows: Tensor, new: Tree, batch: int) -> Tree:
    """Replace the sequences `rows` of `tree` by `new` (R, ...); all others stay unchanged."""
    if len(rows) == batch:
        return new
    return tree_map(lambda old, fresh: old.index_copy(0, rows, fresh.to(old)), tree, new)
