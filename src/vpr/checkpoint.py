"""The run folder: what it holds, whom it belongs to, and loading a model from one.

config.json           the run's configuration, with a format version
model.safetensors     the weights, to share and to load
training.safetensors  all that resuming needs (weights, Adam, windows of D_st, random states, step)
durations.safetensors when events end, if that was learned (`vpr.fitting`); for these weights only
metrics.jsonl         one line every few steps
tensorboard/          the same as curves
report.html           what `vpr report` saw in the run

A checkpoint is one file, so that it is whole or not there; nothing is pickled.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from torch import Tensor

from vpr.config import ModelConfig, RunConfig
from vpr.data import Dataset, dataset
from vpr.durations import Durations
from vpr.errors import VPRError
from vpr.files import PARTIAL, digest, read_json, read_tensors, why, write_json, write_tensors
from vpr.model import VPR
from vpr.serial import from_dict, to_dict

FORMAT = 2  # 1: before runs were made of stages
CONFIG, MODEL, TRAINING = "config.json", "model.safetensors", "training.safetensors"
DURATIONS, METRICS = "durations.safetensors", "metrics.jsonl"
REPORT = "report.html"
LOCK = ".lock"


class Checkpoint(NamedTuple):
    """A moment of training: tensors by name, and the rest as JSON's types."""

    tensors: dict[str, Tensor]
    notes: dict[str, Any]


class RunFolder:
    """One run, one folder; the same folder means resume."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.metrics = self.path / METRICS
        self.tensorboard = self.path / "tensorboard"
        self.report = self.path / REPORT

    def exists(self) -> bool:
        return (self.path / CONFIG).exists()

    def claim(self, config: RunConfig) -> Checkpoint | None:
        """Make the folder this run's own; its last checkpoint, if it was here before.

        A folder that holds another run, or anything else, is refused and left as it is.
        """
        self._check_free()
        if (self.path / CONFIG).exists():
            self._check_same(config)
        else:
            write_json(self.path / CONFIG, {"format": FORMAT} | to_dict(config))
        return self.load() if (self.path / TRAINING).exists() else None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else trains here meanwhile. Where files cannot be locked, trust the user."""
        self._check_free()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = (self.path / LOCK).open("w")
        except OSError as error:
            raise VPRError(f"cannot write {self.path}: {why(error)}") from error
        with file:
            with contextlib.suppress(ImportError, OSError):  # OSError: a file system without locks
                self._lock(file)
            yield

    def _lock(self, file: TextIO) -> None:
        import fcntl  # not on Windows

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            words = f"another process is training in {self.path}: wait, or choose another --out"
            raise VPRError(words) from None

    def config(self) -> RunConfig:
        data = _read_config(self.path)
        if "stages" not in data:
            raise VPRError(f"{self.path} was trained by an older vpr: train it again, elsewhere")
        return from_dict(RunConfig, data, CONFIG)

    def load(self) -> Checkpoint:
        tensors, notes = read_tensors(self.path / TRAINING)
        if "training" not in notes:
            raise VPRError(f"{self.path / TRAINING} is no checkpoint of a training run")
        return Checkpoint(tensors, json.loads(notes["training"]))

    def save(self, model: VPR, checkpoint: Checkpoint) -> None:
        # The checkpoint comes last: once it says that a run is done, the model is the last one.
        write_tensors(self.path / MODEL, model.state_dict(), {})
        save_checkpoint(self.path / TRAINING, checkpoint)

    def _check_free(self) -> None:
        """A run, or nothing but our lock and what a killed process left half written."""
        if not self.path.exists() or (self.path / CONFIG).exists():
            return
        ours = {LOCK, CONFIG + PARTIAL}
        if not self.path.is_dir() or {path.name for path in self.path.iterdir()} - ours:
            raise VPRError(f"{self.path} is not a run and not empty: choose another --out")

    def _check_same(self, config: RunConfig) -> None:
        theirs, ours = _flat(to_dict(self.config())), _flat(to_dict(config))
        for key in sorted(theirs.keys() | ours.keys()):
            if theirs.get(key) != ours.get(key):
                raise VPRError(
                    f"{self.path} holds another run: {key} is {theirs.get(key)} there and "
                    f"{ours.get(key)} here; choose another --out"
                )


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    write_tensors(path, checkpoint.tensors, {"training": json.dumps(checkpoint.notes)})


def save_pretrained(model: VPR, folder: Path | str) -> None:
    """Write `config.json` and `model.safetensors`, from which `from_pretrained` loads."""
    folder = Path(folder)
    if (folder / TRAINING).exists():
        raise VPRError(f"{folder} is a training run, which this would spoil: choose another folder")
    write_tensors(folder / MODEL, model.state_dict(), {})
    write_json(folder / CONFIG, {"format": FORMAT, "model": to_dict(model.config)})


def load_model(name: Path | str) -> VPR:
    """A shipped model by its name, a folder on this machine, or a repository of the HF hub."""
    folder = _find(str(name))
    model = VPR(from_dict(ModelConfig, _read_config(folder).get("model", {}), f"{CONFIG}.model"))
    tensors, _ = read_tensors(folder / MODEL)
    expected = model.state_dict()
    wrong = sorted(
        key
        for key in expected.keys() | tensors.keys()
        if key not in tensors or key not in expected or tensors[key].shape != expected[key].shape
    )
    if wrong:
        raise VPRError(f"{folder / MODEL} does not fit {CONFIG}: {wrong[0]} differs")
    model.load_state_dict(tensors)
    return model.eval()


def save_durations(durations: Durations, model: VPR, folder: Path | str) -> None:
    """Beside the model that they were fitted to, which the file names."""
    fitted = {"model": fingerprint(model)}
    write_tensors(Path(folder) / DURATIONS, durations.state_dict(), fitted)


def load_durations(name: Path | str, model: VPR) -> Durations:
    """Those that lie with the model of this name, see `load_model`; refused for other weights."""
    path = _find(str(name)) / DURATIONS
    if not path.exists():
        raise VPRError(f"{name} has no {DURATIONS}: make them with vpr.fitting.fit_durations")
    tensors, notes = read_tensors(path)
    if notes.get("model") != fingerprint(model):
        raise VPRError(f"{path} was fitted to other weights than these: fit the durations again")
    durations = Durations(model.config).to(model.usual)
    try:
        durations.load_state_dict(tensors)
    except RuntimeError as error:
        raise VPRError(f"{path} is of another version of vpr: fit the durations again") from error
    return durations.eval()


def fingerprint(model: VPR) -> str:
    """Of the weights, wherever and however precisely they are kept."""
    return digest({name: tensor.float().cpu() for name, tensor in model.state_dict().items()}, {})


def data_for(name: Path | str, instead: str | None = None) -> Dataset:
    """The dataset that the model of this name was trained on, or another one by its name."""
    if instead is not None:
        return dataset(instead)
    folder = _find(str(name))
    config = _read_config(folder)
    if "data" not in config:
        raise VPRError(f"{folder / CONFIG} names no dataset: say which with --data")
    parts = {name: config[name] for name in ("data", "model") if name in config}
    return from_dict(RunConfig, parts, CONFIG).data


def shipped_models() -> list[str]:
    """Names that `from_pretrained` knows without a network."""
    return sorted(path.parent.name for path in _shipped().glob(f"*/{CONFIG}"))


def _shipped() -> Path:
    return Path(str(resources.files("vpr") / "pretrained"))


def _find(name: str) -> Path:
    if (Path(name) / CONFIG).exists():
        if not (Path(name) / MODEL).exists():
            raise VPRError(f"{name} has no {MODEL} yet: train it first")
        return Path(name)
    if name in shipped_models():
        return _shipped() / name
    if Path(name).exists() or name.count("/") != 1 or name.startswith((".", "/", "~")):
        raise VPRError(
            f"no model {name!r}: give a run folder, a hub id, or {' or '.join(shipped_models())}"
        )
    return _download(name)


def _download(name: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise VPRError(
            f"no model {name!r} on this machine: give a run folder or "
            f"{' or '.join(shipped_models())}; for the hub, pip install 'vpr-torch[hub]' first"
        ) from None
    try:
        return Path(snapshot_download(name, allow_patterns=[CONFIG, MODEL, DURATIONS]))
    except Exception as error:  # the hub's client raises many kinds, all mean "not to be had"
        raise VPRError(
            f"no folder {name!r} here, nor on the hub: {type(error).__name__}"
        ) from error


def _read_config(folder: Path) -> dict[str, Any]:
    """config.json without its version, which must be one that we know."""
    if not (folder / CONFIG).exists():
        raise VPRError(f"{folder} is not a run folder: it has no {CONFIG}")
    data = read_json(folder / CONFIG)
    version = data.pop("format", None) if isinstance(data, dict) else None
    if type(version) is not int or version < 1:
        raise VPRError(f"{folder / CONFIG} has no format version: is it a vpr run?")
    if version > FORMAT:
        raise VPRError(
            f"{folder / CONFIG} has format {version}, this vpr reads up to {FORMAT}: upgrade vpr"
        )
    return data  # type: ignore[no-any-return]


def _flat(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested dictionaries as one, with dotted names."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        name = f"{prefix}{key}"
        flat |= _flat(value, f"{name}.") if isinstance(value, dict) else {name: value}
    return flat
