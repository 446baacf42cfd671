"""The shapes of a module's weights, without their memory and without drawing random numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

Shape = tuple[int, ...]

INITIALISES = re.compile(r"[a-z]\w*_")  # normal_, zeros_, …


def state_shapes(build: Callable[[], nn.Module]) -> dict[str, Shape]:
    """The shapes of `build().state_dict()`, even if that would not fit into memory."""
    with _WithoutMemory():
        return {name: tuple(tensor.shape) for name, tensor in build().state_dict().items()}


class _WithoutMemory(TorchFunctionMode):
    """Puts the weights of layers on the meta device, and does not initialise them.

    With `torch.device("meta")` all else would be computed there too, for which PyTorch loads its
    compiler; that takes seconds.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "empty":
            kwargs |= {"device": "meta"}
        changed = args[0] if args else kwargs.get("tensor")
        if INITIALISES.fullmatch(name) and isinstance(changed, Tensor) and changed.is_meta:
            return changed
        return func(*args, **kwargs)
