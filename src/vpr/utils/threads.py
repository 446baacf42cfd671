"""CPU threads and memory allocation of a process."""

from __future__ import annotations

import contextlib
import ctypes

import torch

# parameters of glibc's mallopt
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3


def use_threads(count: int) -> None:
    """Set the number of CPU threads. To be called before the first tensor is created.

    Denormal numbers slow a trained model down by a third, so they are flushed to zero. Threads
    inherit this setting when they start; running threads are not affected.
    """
    torch.set_flush_denormal(True)
    torch.set_num_threads(max(count, 1))
    _keep_freed_memory()


def _keep_freed_memory() -> None:
    """Make glibc keep freed memory instead of returning it to the system.

    Each step allocates and frees large tensors. By default glibc returns their pages to the system,
    and new pages have to be zeroed, which takes up to a third of the time of the image network.
    Nothing is changed for other C libraries, or if glibc refuses the first threshold: the other two
    settings alone would make it slower.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        if mallopt(M_MMAP_THRESHOLD, 2**30):
            mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
            mallopt(M_TOP_PAD, 2**28)
