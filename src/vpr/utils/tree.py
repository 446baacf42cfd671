"""Functions on trees of tensors: nested named tuples and tuples, with None for no tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from torch import Tensor

Tree = TypeVar("Tree")
Class = TypeVar("Class", bound=type)
REPR_DEPTH = 2  # levels of nested named tuples that a repr shows


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


def shapes_in_repr(cls: Class) -> Class:
    """A named tuple whose repr has the shapes of its tensors and arrays instead of their values."""
    cls.__repr__ = shape_repr  # type: ignore[assignment]
    return cls


def shape_repr(value: Any, depth: int = REPR_DEPTH) -> str:
    """A short repr of a tree; numbers are shown, and named tuples below `depth` are left out."""
    if isinstance(value, Tensor | np.ndarray):
        name, shape = type(value).__name__, tuple(value.shape)
        # Reading a number from another device would wait for it.
        is_number = not shape and isinstance(value, Tensor) and value.device.type == "cpu"
        return f"{value.item():.6g}" if is_number else f"{name}{shape}"
    if hasattr(value, "_fields"):
        parts = (f"{name}={shape_repr(each, depth - 1)}" for name, each in _fields(value))
        return f"{type(value).__name__}({', '.join(parts) if depth else '…'})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {shape_repr(v, depth)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        parts = (shape_repr(each, depth) for each in value)
        return f"({', '.join(parts)}{',' if len(value) == 1 else ''})"
    return repr(value)


def _fields(value: Any) -> list[tuple[str, Any]]:
    return list(zip(value._fields, value, strict=True))
