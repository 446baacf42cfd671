"""The window of D_st of one video, changed in place.

Plain version: `vpr.events.Window`, compared in tests/fast/test_single_window.py.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from vpr.events import Window


class SingleWindow:
    """A copy of a `Window` of one sequence. The number of pushed values is a plain number."""

    def __init__(self, window: Window) -> None:
        self.values, self.pushed = window.values.clone(), int(window.pushed)

    def window(self) -> Window:
        pushed = torch.tensor([self.pushed], device=self.values.device)
        return Window(self.values.clone(), pushed)

    def means(self, values: Tensor) -> Tensor:  # (R,) → (R,)
        """The mean before each of `values`, if they were pushed one after the other."""
        if len(values) > 1:
            return self.window().after_each(values).mean()[:-1]
        filled = min(self.pushed, self.values.shape[1])
        return self.values.sum(1) / filled if filled else self.values.new_tensor([math.inf])

    def push(self, values: Tensor) -> None:  # (R,)
        size = self.values.shape[1]
        self.pushed += len(values)
        values = values[-size:]
        start = (self.pushed - len(values)) % size
        fitting = min(len(values), size - start)
        self.values[0, start : start + fitting] = values[:fitting]
        if fitting < len(values):
            self.values[0, : len(values) - fitting] = values[fitting:]
