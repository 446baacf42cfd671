"""Random changes of JSON, bytes and tensors."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import torch
from torch import Tensor

Random = np.random.Generator

VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    7,
    10**9,
    10**11,
    2**63,
    10**30,
    10**400,
    -0.0,
    1e-300,
    1e300,
    float("nan"),
    float("inf"),
    "",
    "x" * 5000,
    "../../x",
    "/etc/passwd",
    "</script><img src=x onerror=alert(1)>",
    "=1+1",
    "1/0",
    "1e999999999",
    "\x1b[2J\n\n-->",
    "\udcff",
    [],
    {},
    [[[[[]]]]],
    {"name": "video", "path": "/etc/passwd"},
]


def chosen(rng: Random, values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def changed_json(rng: Random, data: Any) -> str:
    """JSON with one to three changes, or with damaged bytes."""
    data = json.loads(json.dumps(data))
    for _ in range(int(rng.integers(1, 4))):
        _change(rng, data)
    text = json.dumps(data)
    if rng.random() < 0.15:
        return changed_bytes(rng, text.encode()).decode("utf-8", "surrogateescape")
    if rng.random() < 0.03:
        return text.replace(":", ": " + "[" * 3000, 1)
    return text


def _change(rng: Random, data: Any) -> None:
    """Replace, remove or add one value, anywhere."""
    keys = list(data) if isinstance(data, dict) else list(range(len(data)))
    if not keys:
        return
    key = chosen(rng, keys)
    if isinstance(data[key], dict | list) and data[key] and rng.random() < 0.8:
        _change(rng, data[key])
    elif rng.random() < 0.15:
        del data[key]
    elif rng.random() < 0.1 and isinstance(data, dict):
        data[chosen(rng, ["wings", "../x", "path", "cache", "file"])] = chosen(rng, VALUES)
    else:
        data[key] = chosen(rng, VALUES)


def changed_bytes(rng: Random, content: bytes) -> bytes:
    """Bytes that were overwritten, cut short, repeated or removed."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 8))):
        place = int(rng.integers(max(len(data), 1)))
        length = int(rng.integers(1, 64))
        kind = rng.integers(5)
        if kind <= 1:
            data[place : place + 1] = rng.bytes(1)
        elif kind == 2:
            data[place : place + length] = rng.bytes(length)
        elif kind == 3:
            del data[place : place + length]
        elif rng.random() < 0.3:
            del data[place:]
    return bytes(data)


def changed_tensor(rng: Random, tensor: Tensor) -> Tensor:
    """Another shape, type or value."""
    kind = int(rng.integers(6))
    if kind == 0:
        return tensor[None]
    if kind == 1:
        return tensor.reshape(-1)[: tensor.numel() // 2].clone()
    if kind == 2:
        types = [torch.bfloat16, torch.float64, torch.int64, torch.bool, torch.uint8]
        return tensor.to(chosen(rng, types))
    if kind == 3 and tensor.is_floating_point():
        return tensor * chosen(rng, [torch.nan, torch.inf, -1.0, 1e38, 0.0])
    flat = tensor.clone().reshape(-1)
    if flat.numel():
        extremes = [0, 1, 255] if flat.dtype in (torch.uint8, torch.bool) else [-(2**31), -1, 2**31]
        flat[int(rng.integers(flat.numel()))] = chosen(rng, extremes)
    return flat.reshape(tensor.shape)
