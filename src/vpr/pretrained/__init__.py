"""Loading and saving models: shipped ones, run folders, and repositories of the HF hub.

A run folder holds

config.json           the run's configuration, with a format version
model.safetensors     the weights, to share and to load
training.safetensors  all that resuming needs (weights, Adam, windows of D_st, random states, step)
durations.safetensors when events end, if that was learned, for these weights only: see
                      `vpr.generation.learn_durations`
metrics.jsonl         one line every few steps
tensorboard/          the same as curves
report.html           what `vpr report` saw in the run

The folders beside this file are the shipped models.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

from vpr.config import ModelConfig, RunConfig
from vpr.data import Dataset, dataset
from vpr.errors import VPRError
from vpr.generation.durations import Durations
from vpr.model import VPR
from vpr.utils.config_json import from_dict, to_dict
from vpr.utils.files import digest, read_json, read_tensors, write_json, write_tensors

FORMAT = 2  # 1: before runs were made of stages
CONFIG, MODEL, TRAINING = "config.json", "model.safetensors", "training.safetensors"
DURATIONS, METRICS = "durations.safetensors", "metrics.jsonl"
REPORT = "report.html"


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
    model = VPR(from_dict(ModelConfig, read_config(folder).get("model", {}), f"{CONFIG}.model"))
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
        maker = "vpr.generation.learn_durations.fit_durations"
        raise VPRError(f"{name} has no {DURATIONS}: make them with {maker}")
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
    config = read_config(folder)
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


def read_config(folder: Path) -> dict[str, Any]:
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
