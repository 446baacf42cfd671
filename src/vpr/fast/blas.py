"""How large a matrix may be that numpy multiplies with a vector on one core.

Beyond that OpenBLAS spreads the product over all cores, which takes longer at these sizes, and
very much longer where the others are busy. Since OpenBLAS 0.3.27 the limit is 50 times as high.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

OLD, NEW = 2304 * 4, 2304 * 4 * 50  # weights


def limit(blas: dict[str, Any]) -> int:
    """By what numpy tells of its BLAS; only that of its own wheels is surely the one in use."""
    version = re.match(r"(\d+)\.(\d+)\.(\d+)", str(blas.get("version")))
    if blas.get("name") != "scipy-openblas" or version is None:
        return OLD
    return NEW if tuple(map(int, version.groups())) >= (0, 3, 27) else OLD


def numpys_blas() -> dict[str, Any]:
    try:
        told: Any = np.show_config(mode="dicts")
    except TypeError:  # numpy 1.26 as distributions built it knows no modes
        return {}
    return told.get("Build Dependencies", {}).get("blas", {})  # type: ignore[no-any-return]


def blocks_of(outs: int, ins: int, limit: int) -> int:
    """Into how many equal blocks of rows to cut a matrix (out, in): as few as the limit allows."""
    fitting = (n for n in range(1, outs) if outs % n == 0 and outs // n * ins < limit)
    return next(fitting, outs)
