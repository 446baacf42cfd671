"""The largest matrix-vector product that numpy computes on one core.

OpenBLAS distributes larger products over all cores, which takes longer at these sizes, and much
longer if the other cores are busy. Since OpenBLAS 0.3.27 the limit is 50 times as high.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

OLD, NEW = 2304 * 4, 2304 * 4 * 50  # number of weights, before and since OpenBLAS 0.3.27


def max_weights(blas: dict[str, Any]) -> int:
    """The limit for the BLAS that numpy reports; the old limit unless it is numpy's own wheel."""
    version = re.match(r"(\d+)\.(\d+)\.(\d+)", str(blas.get("version")))
    if blas.get("name") != "scipy-openblas" or version is None:
        return OLD
    return NEW if tuple(map(int, version.groups())) >= (0, 3, 27) else OLD


def numpy_blas() -> dict[str, Any]:
    """Name and version of the BLAS that numpy was built with."""
    try:
        config: Any = np.show_config(mode="dicts")
    except TypeError:  # some distributions' builds of numpy 1.26 have no modes
        return {}
    return config.get("Build Dependencies", {}).get("blas", {})  # type: ignore[no-any-return]


def block_count(outs: int, ins: int, limit: int) -> int:
    """The smallest number of equal blocks of rows of a matrix (out, in) that respects the limit."""
    fitting = (n for n in range(1, outs) if outs % n == 0 and outs // n * ins < limit)
    return next(fitting, outs)
