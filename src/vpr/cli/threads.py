"""How a command uses the processor."""

from __future__ import annotations

import torch


def use_threads(count: int) -> None:
    """To be called before the first tensor is made.

    Worker threads take over how their maker treats denormal numbers, which slow a trained model
    down by a third; those that are there already would go on as they are.
    """
    torch.set_flush_denormal(True)
    torch.set_num_threads(max(count, 1))
