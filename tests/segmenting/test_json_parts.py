"""Parts put together are the whole."""

import json
from base64 import b64decode

import numpy as np
import pytest

from vpr.segmenting.timeline_json import PIECE, joined, quoted, quoted_parts


@pytest.mark.parametrize("size", [0, 1, 2, PIECE // 4, PIECE // 4 + 1, PIECE])
def test_an_array_in_pieces_is_one_base64(size: int) -> None:
    array = np.random.default_rng(0).random(size, dtype=np.float32)
    parts = list(quoted_parts(array))
    assert "".join(parts) == quoted(array.tobytes())
    assert b64decode(json.loads("".join(parts))) == array.tobytes()
    assert max(map(len, parts)) <= 4 * PIECE // 3


def test_any_layout() -> None:
    array = np.arange(24, dtype="<u2").reshape(4, 6)[:, ::2]
    assert "".join(quoted_parts(array)) == quoted(array.tobytes())


def test_joined() -> None:
    assert ["".join(joined(parts, ",")) for parts in ([], ["a"], ["a", "b", "c"])] == [
        "",
        "a",
        "a,b,c",
    ]
