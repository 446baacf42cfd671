"""JSON in parts, because building one string for an hour of footage takes much more memory."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

PIECE = 3 * 2**14  # bytes encoded at a time; a multiple of 3, as base64 needs


def joined(parts: Iterable[str], between: str) -> Iterator[str]:
    for number, part in enumerate(parts):
        yield f"{between}{part}" if number else part


def quoted(data: bytes) -> str:
    """Base64 in quotes; it contains no characters that JSON escapes."""
    return f'"{b64encode(data).decode("ascii")}"'


def quoted_parts(array: NDArray[Any]) -> Iterator[str]:
    """The bytes of an array as base64 in quotes."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    yield '"'
    for start in range(0, len(data), PIECE):
        yield b64encode(data[start : start + PIECE].data).decode("ascii")
    yield '"'
