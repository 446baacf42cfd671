"""How a process uses the processor and the memory."""

from __future__ import annotations

import contextlib
import ctypes

import torch

# glibc's names for what mallopt sets
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3


def use_threads(count: int) -> None:
    """To be called before the first tensor is made.

    Worker threads take over how their maker treats denormal numbers, which slow a trained model
    down by a third; those that are there already would go on as they are.
    """
    torch.set_flush_denormal(True)
    torch.set_num_threads(max(count, 1))
    _keep_freed_memory()


def _keep_freed_memory() -> None:
    """A step frees and takes large tensors again and again. By itself the C library hands each back
    to the system and gets new pages for the next, all of which have to be zeroed: up to a third
    of the image network's time. Other C libraries, and old ones that refuse so large a threshold,
    do as they like: the other two alone would make it worse."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        if mallopt(M_MMAP_THRESHOLD, 2**30):
            mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
            mallopt(M_TOP_PAD, 2**28)
