"""Three processes that write the same files at the same time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from tests.campaigns.campaign import Result, command
from vpr.errors import VPRError
from vpr.utils.files import read_json, read_tensors, write_json, write_tensors

WRITERS = 3


def run(count: int, seed: int) -> Result:
    """`count` rounds; in each, every process writes a JSON file and a file of tensors."""
    result = Result(Counter(), [])
    with TemporaryDirectory(prefix="campaign-") as folder:
        text, tensors = Path(folder) / "shared.json", Path(folder) / "shared.safetensors"
        children = [_fork(number, count, text, tensors) for number in range(WRITERS)]
        while children:
            _read(text, tensors, result)
            for child in children[:]:
                ended, status = os.waitpid(child, os.WNOHANG)
                if ended:
                    children.remove(child)
                    if status:
                        result.failures.append(f"a writer ended with status {status}")
        if left := {path.name for path in Path(folder).iterdir()} - {text.name, tensors.name}:
            result.failures.append(f"temporary files were left: {sorted(left)}")
    result.outcomes["written"] = 2 * WRITERS * count
    return result


def _fork(number: int, count: int, text: Path, tensors: Path) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        for turn in range(count):
            write_json(text, {"writer": number, "values": [number] * 5000})
            write_tensors(
                tensors, {"a": torch.full((100, 100), float(number))}, {"turn": str(turn)}
            )
        status = 0
    finally:
        os._exit(status)


def _read(text: Path, tensors: Path, result: Result) -> None:
    """Whatever is read is complete and of one writer."""
    if not (text.exists() and tensors.exists()):
        return
    try:
        data = read_json(text)
        same = data["values"] == [data["writer"]] * 5000
        read, _ = read_tensors(tensors)  # which verifies the checksum
    except VPRError as error:
        result.failures.append(str(error))
        return
    if not same or len(read["a"].unique()) != 1:
        result.failures.append("a file of two writers")
    result.outcomes["read"] += 1


def main(argv: Sequence[str] | None = None) -> int:
    return command("writers", 3_000, run, argv)


if __name__ == "__main__":
    raise SystemExit(main())
