"""Reading and writing files. Writing is atomic: a file is complete or absent."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from vpr.errors import VPRError

PARTIAL = ".partial"  # suffix of a file that is being written


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file, then rename it to `path`."""
    if path.is_dir():
        raise VPRError(f"{path} is a folder: name a file")
    temporary = path.with_name(path.name + PARTIAL)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError | SafetensorError):
            reason = why(error)
            raise VPRError(f"cannot write {path}: {reason}; nothing was overwritten") from error
        raise


def write_text(path: Path, text: str) -> None:
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def write_parts(path: Path, parts: Iterable[str]) -> None:
    """Write a text in parts, without holding all of it in memory."""

    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8") as file:
            file.writelines(parts)

    write_atomically(path, write)


def write_bytes(path: Path, data: bytes) -> None:
    write_atomically(path, lambda temporary: temporary.write_bytes(data))


def write_json(path: Path, data: Any) -> None:
    write_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise VPRError(f"cannot read {path}: {why(error)}") from error
    except ValueError as error:
        raise VPRError(f"{path} is not whole JSON ({error}): restore it or train again") from error


def step_lines(path: Path) -> list[dict[str, Any]]:
    """Read a log of JSON lines, each with its `step`, up to the first incomplete line.

    The last line may be incomplete if the process was killed.
    """
    lines: list[dict[str, Any]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            read = json.loads(line)
            int(read["step"])
        except (ValueError, KeyError, TypeError):
            break
        lines.append(read)
    return lines


def write_tensors(path: Path, tensors: dict[str, Tensor], notes: dict[str, str]) -> None:
    """Write a safetensors file whose header contains `notes` and a checksum."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    header = notes | {"sha256": digest(tensors, notes)}
    write_bytes(path, save(tensors, header))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read tensors and notes, and verify the checksum."""
    try:
        with safe_open(path, framework="pt") as file:
            notes: dict[str, str] = dict(file.metadata() or {})
            names = file.keys()
            tensors: dict[str, Tensor] = {name: file.get_tensor(name) for name in names}
    except FileNotFoundError as error:
        raise VPRError(f"{path} is missing") from error
    except (OSError, SafetensorError) as error:
        raise VPRError(f"{path} is truncated or not a safetensors file: copy it again") from error
    if notes.pop("sha256", None) != digest(tensors, notes):
        raise VPRError(f"{path} was altered since it was written: copy it again")
    return tensors, notes


def digest(tensors: dict[str, Tensor], notes: dict[str, str]) -> str:
    """The checksum of tensors (on the CPU) and notes."""
    sha = hashlib.sha256(json.dumps(notes, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        sha.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        sha.update(tensor.numpy().tobytes())
    return sha.hexdigest()


def why(error: Exception) -> str:
    """A short description of a file error."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "no room left on the disk"
    return getattr(error, "strerror", None) or str(error)
