"""The run folder of a training run: ownership, locking and checkpoints.

Its files are listed in `vpr.pretrained`. A checkpoint is a single file that is written atomically;
nothing is pickled.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from torch import Tensor

from vpr.config import RunConfig
from vpr.errors import VPRError
from vpr.model import VPR
from vpr.pretrained import (
    CONFIG,
    FORMAT,
    METRICS,
    MODEL,
    REPORT,
    TRAINING,
    read_config,
    with_current_names,
)
from vpr.utils.config_json import from_dict, to_dict
from vpr.utils.files import PARTIAL, read_tensors, why, write_json, write_tensors

LOCK = ".lock"


class Checkpoint(NamedTuple):
    """The state of a training run: tensors by name, and other values in the types of JSON."""

    tensors: dict[str, Tensor]
    notes: dict[str, Any]


class RunFolder:
    """The folder of one run. Training into the folder of an unfinished run resumes it."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.metrics = self.path / METRICS
        self.tensorboard = self.path / "tensorboard"
        self.report = self.path / REPORT

    def exists(self) -> bool:
        return (self.path / CONFIG).exists()

    def claim(self, config: RunConfig) -> Checkpoint | None:
        """Use the folder for this run; returns the last checkpoint of the run, if there is one.

        A folder that contains another run, or anything else, is an error and is left unchanged.
        """
        self._check_free()
        if (self.path / CONFIG).exists():
            self._check_same(config)
        else:
            write_json(self.path / CONFIG, {"format": FORMAT} | to_dict(config))
        return self.load() if (self.path / TRAINING).exists() else None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other processes, on file systems that support locks."""
        self._check_free()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = (self.path / LOCK).open("w")
        except OSError as error:
            raise VPRError(f"cannot write {self.path}: {why(error)}") from error
        with file:
            with contextlib.suppress(ImportError, OSError):  # OSError: no locks on this file system
                self._lock(file)
            yield

    def _lock(self, file: TextIO) -> None:
        import fcntl  # not on Windows

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            words = f"another process is training in {self.path}: wait, or choose another --out"
            raise VPRError(words) from None

    def config(self, kind: type[RunConfig] = RunConfig) -> RunConfig:
        """The configuration of the run, of this class."""
        data = read_config(self.path)
        if "stages" not in data:
            raise VPRError(f"{self.path} was trained by an older vpr: train it again, elsewhere")
        return from_dict(kind, data, CONFIG)

    def load(self) -> Checkpoint:
        tensors, notes = read_tensors(self.path / TRAINING)
        tensors = with_current_names(tensors)
        if "training" not in notes:
            raise VPRError(f"{self.path / TRAINING} is no checkpoint of a training run")
        return Checkpoint(tensors, json.loads(notes["training"]))

    def save(self, model: VPR, checkpoint: Checkpoint) -> None:
        # The checkpoint is written last: if it says that the run is finished, so is the model.
        write_tensors(self.path / MODEL, model.state_dict(), {})
        save_checkpoint(self.path / TRAINING, checkpoint)

    def _check_free(self) -> None:
        """Raise unless the folder is a run, or empty but for our own temporary files."""
        if not self.path.exists() or (self.path / CONFIG).exists():
            return
        ours = {LOCK, CONFIG + PARTIAL}
        if not self.path.is_dir() or {path.name for path in self.path.iterdir()} - ours:
            raise VPRError(f"{self.path} is not a run and not empty: choose another --out")

    def _check_same(self, config: RunConfig) -> None:
        theirs, ours = _flat(to_dict(self.config(type(config)))), _flat(to_dict(config))
        for key in sorted(theirs.keys() | ours.keys()):
            if theirs.get(key) != ours.get(key):
                raise VPRError(
                    f"{self.path} holds another run: {key} is {theirs.get(key)} there and "
                    f"{ours.get(key)} here; choose another --out"
                )


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint to one file."""
    write_tensors(path, checkpoint.tensors, {"training": json.dumps(checkpoint.notes)})


def _flat(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested dictionaries, with dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        name = f"{prefix}{key}"
        flat |= _flat(value, f"{name}.") if isinstance(value, dict) else {name: value}
    return flat
