"""The run folder of a training run: ownership, locking and checkpoints.

Its files are listed in `vpr.pretrained`. A checkpoint is a single file that is written atomically;
nothing is pickled.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from torch import Tensor

from vpr.config import RunConfig
from vpr.data.base import Preprocessed
from vpr.errors import VPRError
from vpr.model import VPR
from vpr.pretrained import (
    CONFIG,
    FORMAT,
    METRICS,
    MODEL,
    PREPROCESSING,
    PREVIOUS,
    REPORT,
    TRAINING,
    read_config,
)
from vpr.utils.config_json import from_dict, to_dict
from vpr.utils.files import (
    PARTIAL,
    WriteError,
    error_reason,
    parse_json,
    read_tensors,
    write_json,
    write_tensors,
)

LOCK = ".lock"
STEPS = "training.steps"  # the only option that may change; it can only increase

logger = logging.getLogger("vpr")


class Checkpoint(NamedTuple):
    """The state of a training run, made by `Session.checkpoint`.

    The tensors are the weights, the averages of Adam, the windows of D_st and the states of the
    random generators of PyTorch: `noise` (of the latent states), `chance` (of random updates) and
    `selection` (of decoded frames). The notes, which are values for JSON, are the step, the ends of
    the stages, the share of the variation that is explained, and the random generator of the data.
    """

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

    def claim(self, config: RunConfig) -> None:
        """Use the folder for this run.

        A folder that contains another run, or anything else, is an error and is left unchanged. A
        run with fewer `training.steps` is extended: its last stage becomes longer.
        """
        self._check_free()
        before = self.config(type(config)) if self.exists() else None
        if before is not None:
            self._check_same(before, config)
        if before is None or before.training.steps < config.training.steps:
            write_json(self.path / CONFIG, {"format": FORMAT} | to_dict(config))
        if isinstance(config.data, Preprocessed) and not (self.path / PREPROCESSING).exists():
            config.data.preprocessing().save(self.path / PREPROCESSING)

    def resume(self, restore: Callable[[Checkpoint], None]) -> None:
        """Restore the last checkpoint, if there is one; if it is damaged, the one before it."""
        found = [self.path / name for name in (TRAINING, PREVIOUS) if (self.path / name).exists()]
        failed: VPRError | None = None
        for path in found:
            try:
                restore(self.load(path))
            except VPRError as error:
                failed = failed or error
                continue
            if failed is not None:
                logger.warning("%s; resumed from %s, the checkpoint before it", failed, path.name)
            return
        if failed is not None:
            raise failed

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other processes, on file systems that support locks."""
        self._check_free()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = (self.path / LOCK).open("w")
        except OSError as error:
            raise VPRError(f"cannot write {self.path}: {error_reason(error)}") from error
        with file:
            with contextlib.suppress(ImportError, OSError):  # OSError: no locks on this file system
                self._lock(file)
            for left in self.path.glob(f"*{PARTIAL}"):  # of a process that was killed
                left.unlink(missing_ok=True)
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
            raise VPRError(
                f"{self.path} was trained by an older vpr: train it again in another folder"
            )
        return from_dict(kind, data, CONFIG)

    def load(self, path: Path | None = None) -> Checkpoint:
        """The last checkpoint, or that in the file `path`."""
        path = path or self.path / TRAINING
        tensors, notes = read_tensors(path)
        try:
            data = parse_json(notes["training"])
        except (KeyError, ValueError) as error:
            raise VPRError(f"{path} is not a checkpoint of a training run") from error
        if not isinstance(data, dict):
            raise VPRError(f"{path} is not a checkpoint of a training run")
        return Checkpoint(tensors, data)

    def save(self, model: VPR, checkpoint: Checkpoint) -> None:
        """Write the model and the checkpoint; the last checkpoint becomes the previous one."""
        try:
            self._save(model, checkpoint)
        except WriteError:
            if not (self.path / PREVIOUS).exists():
                raise
            (self.path / PREVIOUS).unlink()  # the disk may be full: make room
            self._save(model, checkpoint)

    def _save(self, model: VPR, checkpoint: Checkpoint) -> None:
        # The checkpoint is written last: if it says that the run is finished, so is the model.
        write_tensors(self.path / MODEL, model.state_dict(), {})
        save_checkpoint(self.path / TRAINING, checkpoint, self.path / PREVIOUS)

    def _check_free(self) -> None:
        """Raise an error unless the folder is a run, or empty except for our temporary files."""
        if not self.path.exists() or (self.path / CONFIG).exists():
            return
        if not self.path.is_dir() or any(
            not _is_temporary(path.name) for path in self.path.iterdir()
        ):
            raise VPRError(f"{self.path} is not a run and not empty: choose another --out")

    def _check_same(self, before: RunConfig, config: RunConfig) -> None:
        theirs, ours = _flat(to_dict(before)), _flat(to_dict(config))
        steps = theirs.pop(STEPS), ours.pop(STEPS)
        if steps[0] > steps[1]:
            raise VPRError(
                f"{self.path} holds a run of {steps[0]:,} steps: give --{STEPS} {steps[0]} to "
                f"resume it, more to extend it, or choose another --out"
            )
        for key in sorted(theirs.keys() | ours.keys()):
            if theirs.get(key) != ours.get(key):
                raise VPRError(
                    f"{self.path} holds another run: {key} is {theirs.get(key)} there and "
                    f"{ours.get(key)} here; choose another --out"
                )


def _is_temporary(name: str) -> bool:
    """Whether a file of this name may be left over from a run that was killed while it started."""
    return name == LOCK or (name.startswith(CONFIG) and name.endswith(PARTIAL))


def save_checkpoint(path: Path, checkpoint: Checkpoint, previous: Path | None = None) -> None:
    """Write a checkpoint to one file; the old one is kept as `previous`, if given."""
    write_tensors(path, checkpoint.tensors, {"training": json.dumps(checkpoint.notes)}, previous)


def _flat(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested dictionaries, with dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        name = f"{prefix}{key}"
        flat |= _flat(value, f"{name}.") if isinstance(value, dict) else {name: value}
    return flat
