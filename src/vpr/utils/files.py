"""Reading and writing files. Writing is atomic: a file is complete or absent.

Files may be untrusted: JSON is bounded in size, depth and numbers, and tensors are checked.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from vpr.errors import VPRError

PARTIAL = ".partial"  # suffix of a file that is being written
MAX_READ_ATTEMPTS = 100  # to read a file that other processes replace
MAX_JSON_BYTES = 2**30  # bytes; the curves of a day of video fit
INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32}  # NumPy has no bfloat16
MAX_INTEGER = 2**128  # random generators have numbers of 128 bits


class WriteError(VPRError):
    """A file could not be written, for example because the disk is full."""


def write_atomically(
    path: Path, write: Callable[[Path], object], previous: Path | None = None
) -> None:
    """Let `write` fill a temporary file, then rename it to `path`.

    The name of the temporary file is unique, so several processes can write the same file: one of
    them wins. The old file is kept as `previous`, if given.
    """
    if path.is_dir():
        raise VPRError(f"{path} is a folder: name a file")
    # Shortened, because a name has at most 255 bytes.
    temporary = path.with_name(f"{path.name[:40]}.{secrets.token_hex(6)}{PARTIAL}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if previous is not None and path.exists():
            _keep(path, previous)
        temporary.replace(path)
        _sync_folder(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError | SafetensorError):
            reason = error_reason(error)
            raise WriteError(f"cannot write {path}: {reason}; nothing was overwritten") from error
        raise


def _keep(path: Path, previous: Path) -> None:
    """Give a file a second name; at every moment, one of the two is complete."""
    previous.unlink(missing_ok=True)
    try:
        os.link(path, previous)
    except OSError:  # no links on this file system
        path.replace(previous)


def _sync_folder(folder: Path) -> None:
    """Make renamed files survive a power failure, where a folder can be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_text(path: Path, text: str) -> None:
    write_parts(path, [text])


def write_parts(path: Path, parts: Iterable[str]) -> None:
    """Write a text in parts, without holding all of it in memory.

    Bytes of file names that are not valid UTF-8 become escapes, as in JSON: \\udc80.
    """

    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(parts)

    write_atomically(path, write)


def write_bytes(path: Path, data: bytes, previous: Path | None = None) -> None:
    write_atomically(path, lambda temporary: temporary.write_bytes(data), previous)


def write_json(path: Path, data: Any) -> None:
    write_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    try:
        if path.stat().st_size > MAX_JSON_BYTES:
            raise VPRError(
                f"{path} is larger than {MAX_JSON_BYTES >> 20} MB: is it the right file?"
            )
        return parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise VPRError(f"cannot read {path}: {error_reason(error)}") from error
    except UnicodeDecodeError as error:
        raise VPRError(f"{path} is not UTF-8: restore it or train again") from error
    except ValueError as error:
        if isinstance(error, VPRError):
            raise
        raise VPRError(f"{path} is not valid JSON ({error}): restore it or train again") from error


def parse_json(text: str, parse_float: Callable[[str], Any] = float) -> Any:
    """Parse JSON; a ValueError if it is invalid, too deep, or has integers above 128 bits."""
    try:
        return json.loads(text, parse_int=_bounded, parse_float=parse_float)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _bounded(digits: str) -> int:
    number = int(digits)  # Python raises a ValueError beyond 4300 digits
    if abs(number) >= MAX_INTEGER:
        raise ValueError(f"a number has {len(digits)} digits")
    return number


def step_lines(path: Path) -> list[dict[str, Any]]:
    """Read a log of JSON lines, each with its `step`; lines that are damaged are left out.

    The last line may be incomplete if the process was killed.
    """
    lines: list[dict[str, Any]] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        with contextlib.suppress(ValueError):
            read = parse_json(line)
            if isinstance(read, dict) and type(read.get("step")) is int:
                lines.append(read)
    return lines


def write_tensors(
    path: Path, tensors: dict[str, Tensor], notes: dict[str, str], previous: Path | None = None
) -> None:
    """Write a safetensors file whose header contains `notes` and a checksum.

    The old file is kept as `previous`, if given.
    """
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    header = notes | {"sha256": digest(tensors, notes)}
    write_bytes(path, save(tensors, header), previous)


def tensor_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """The shapes of the tensors in a file, from its header."""
    with _opened(path) as file:
        return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118


def tensor_notes(path: Path) -> dict[str, str]:
    """The notes in the header of a file, without verifying the checksum."""
    with _opened(path) as file:
        return dict(file.metadata() or {})


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read tensors and notes, and verify the checksum."""
    for _ in range(MAX_READ_ATTEMPTS):
        identity = _identity(path)
        with _opened(path) as file:
            notes: dict[str, str] = dict(file.metadata() or {})
            names = file.keys()
            tensors: dict[str, Tensor] = {name: file.get_tensor(name) for name in names}
        # safetensors opens a file twice, and another process may replace it in between.
        if _identity(path) == identity:
            break
    if notes.pop("sha256", None) != digest(tensors, notes):
        raise VPRError(f"{path} was altered since it was written: copy it again")
    return tensors, notes


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except FileNotFoundError as error:
        raise VPRError(f"{path} is missing") from error
    except (OSError, SafetensorError) as error:
        raise VPRError(f"{path} is truncated or not a safetensors file: copy it again") from error


def _identity(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def digest(tensors: dict[str, Tensor], notes: dict[str, str]) -> str:
    """The checksum of tensors (on the CPU) and notes."""
    sha = hashlib.sha256(json.dumps(notes, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        sha.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        same_size = INTEGERS.get(tensor.element_size(), tensor.dtype)
        sha.update(tensor.view(same_size).numpy().tobytes())
    return sha.hexdigest()


def error_reason(error: Exception) -> str:
    """A short description of a file error."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "no room left on the disk"
    return getattr(error, "strerror", None) or str(error)
