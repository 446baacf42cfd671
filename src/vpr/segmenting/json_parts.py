"""JSON in parts: as one text, an hour would take several times its own room."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

PIECE = 3 * 2**14  # bytes encoded at a time; base64 makes four letters of three bytes


def joined(parts: Iterable[str], between: str) -> Iterator[str]:
    for number, part in enumerate(parts):
        yield f"{between}{part}" if number else part


def quoted(data: bytes) -> str:
    """As base64, which has nothing that JSON would escape."""
    return f'"{b64encode(data).decode("ascii")}"'


def quoted_parts(array: NDArray[Any]) -> Iterator[str]:
    """The same of an array's bytes."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    yield '"'
    for start in range(0, len(data), PIECE):
        yield b64encode(data[start : start + PIECE].data).decode("ascii")
    yield '"'
