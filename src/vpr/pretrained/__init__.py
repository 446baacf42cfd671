"""Loading and saving models: shipped models, run folders, and Hugging Face repositories.

A run folder contains

config.json           the configuration of the run, with a format version
model.safetensors     the weights
training.safetensors  the checkpoint (weights, Adam, windows of D_st, random generators, step)
features.safetensors  mean, scale and components of vectors, if it is a model of vectors
calibration.safetensors  the probability of events, if it was fitted to these weights
previous.safetensors  the checkpoint before that, in case the last one is damaged
durations.safetensors the model of event durations, if one was fitted to these weights; see
                      `vpr.generation.learn_durations`
metrics.jsonl         the metrics, one line every few steps
tensorboard/          the metrics for TensorBoard
report.html           the page of `vpr report`

The folders next to this file are the shipped models.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import torch
from torch import Tensor

from vpr.config import ModelConfig, RunConfig
from vpr.data import Dataset, dataset
from vpr.errors import VPRError
from vpr.features.preprocessing import Preprocessing
from vpr.generation.durations import Durations
from vpr.model import VPR
from vpr.presets import PRESETS
from vpr.utils.config_fields import local_fields
from vpr.utils.config_json import KIND, from_dict, to_dict, typed
from vpr.utils.files import (
    digest,
    read_json,
    read_tensors,
    tensor_shapes,
    write_json,
    write_tensors,
)
from vpr.utils.printable import printable
from vpr.utils.shapes import state_shapes

if TYPE_CHECKING:
    from vpr.segmenting.event_calibration import Calibration

FORMAT = 2  # 1: before runs had stages
CONFIG, MODEL, TRAINING = "config.json", "model.safetensors", "training.safetensors"
PREVIOUS = "previous.safetensors"
PREPROCESSING = "features.safetensors"
CALIBRATION = "calibration.safetensors"
FOOTAGE = "footage"  # the shipped model for video, which is used if none is given
DURATIONS, METRICS = "durations.safetensors", "metrics.jsonl"
REPORT = "report.html"
# The files of a repository on the hub.
PUBLISHED = [CONFIG, MODEL, DURATIONS, PREPROCESSING, CALIBRATION]


class PretrainedVPR(VPR):
    """A model with the preprocessing and the calibration that are stored with its weights."""

    preprocessing: Preprocessing | None = None  # of vectors or features, before the model
    calibration: Calibration | None = None  # the probabilities of its events


def preprocessing_of(model: VPR) -> Preprocessing | None:
    return model.preprocessing if isinstance(model, PretrainedVPR) else None


def calibration_of(model: VPR) -> Calibration | None:
    return model.calibration if isinstance(model, PretrainedVPR) else None


def save_pretrained(model: VPR, folder: Path | str) -> None:
    """Write `config.json` and `model.safetensors`, to be loaded with `load_model`."""
    folder = Path(folder)
    if (folder / TRAINING).exists():
        raise VPRError(
            f"{folder} is a training run, whose files would be overwritten: choose another folder"
        )
    write_tensors(folder / MODEL, model.state_dict(), {})
    if preprocessing := preprocessing_of(model):
        preprocessing.save(folder / PREPROCESSING)
    if calibration := calibration_of(model):
        calibration.save(folder / CALIBRATION, fingerprint(model))
    write_json(folder / CONFIG, {"format": FORMAT, "model": to_dict(model.config)})


def load_model(name: Path | str) -> PretrainedVPR:
    """Load a shipped model by name, a folder on this machine, or a Hugging Face repository.

    `owner/name@revision` pins the commit, tag or branch of a repository.
    """
    folder = find_model(str(name))
    data = read_config(folder).get("model", {})
    if isinstance(data, dict) and KIND in data:
        raise VPRError(f"{folder} is a baseline: load it with vpr.baselines.load_baseline")
    config = from_dict(ModelConfig, data, f"{CONFIG}.model")
    _check_shapes(config, folder / MODEL)  # before the memory for the model is allocated
    tensors = read_tensors(folder / MODEL)[0]
    check_weights(tensors, folder / MODEL)
    model = PretrainedVPR(config)
    model.load_state_dict(tensors)
    _check_results(model, folder / MODEL)
    if (folder / PREPROCESSING).exists():
        model.preprocessing = _load_preprocessing(folder / PREPROCESSING, config)
    if (folder / CALIBRATION).exists():
        from vpr.segmenting.event_calibration import Calibration  # which needs the model

        model.calibration = Calibration.load(folder / CALIBRATION, fingerprint(model))
    return model.eval()


def _load_preprocessing(path: Path, config: ModelConfig) -> Preprocessing:
    found = Preprocessing.load(path)
    if (found.outputs,) != config.frame:
        raise VPRError(f"{path} gives {found.outputs} numbers, the model needs {config.frame}")
    return found


def _check_shapes(config: ModelConfig, path: Path) -> None:
    """Compare the shapes in the header of a weight file with the configuration."""
    expected = state_shapes(lambda: VPR(config))
    found = tensor_shapes(path)
    wrong = sorted(k for k in expected.keys() | found.keys() if expected.get(k) != found.get(k))
    if wrong:
        raise VPRError(f"{path} does not fit {CONFIG}: {printable(wrong[0])} differs")


def check_weights(tensors: dict[str, Tensor], path: Path) -> None:
    """Raise an error unless all weights are finite numbers."""
    for key, tensor in tensors.items():
        if not tensor.is_floating_point():
            raise VPRError(f"{path}: {key} is {tensor.dtype}, not floats; copy it again")
        numbers = tensor.float()  # isfinite does not support floats of 8 bits
        if key.endswith("typical_kl"):  # NaN for a level that was never compared
            numbers = numbers[~numbers.isnan()]
        if not bool(numbers.isfinite().all()):
            raise VPRError(
                f"{path}: {key} has NaN or infinite values; copy it again, or train again"
            )


@torch.no_grad()
def _check_results(model: VPR, path: Path) -> None:
    """Compute two grey frames: with finite weights that are too large, results are not finite."""
    state, frame = model.initial(1), torch.full((1, *model.config.frame), 0.5)
    for _ in range(2):
        state, evidence = model.step(state, frame)
    results = [*(block.s for block in state.blocks), *(each.kl_static for each in evidence[1:2])]
    if not all(bool(result.isfinite().all()) for result in results):
        raise VPRError(
            f"{path}: the results of the model are NaN or infinite; copy it again, or train again"
        )


def save_durations(durations: Durations, model: VPR, folder: Path | str) -> None:
    """Write the durations to the folder of the model they were fitted to."""
    fitted = {"model": fingerprint(model)}
    write_tensors(Path(folder) / DURATIONS, durations.state_dict(), fitted)


def load_durations(name: Path | str, model: VPR) -> Durations:
    """Load the durations that were fitted to the model of this name, see `load_model`.

    Durations that were fitted to other weights are an error.
    """
    path = find_model(str(name)) / DURATIONS
    if not path.exists():
        maker = "vpr.generation.learn_durations.fit_durations"
        raise VPRError(f"{name} has no {DURATIONS}: make them with {maker}")
    tensors, notes = read_tensors(path)
    if notes.get("model") != fingerprint(model):
        raise VPRError(f"{path} was fitted to other weights than these: fit the durations again")
    check_weights(tensors, path)
    durations = Durations(model.config).to(model.device, model.dtype)
    try:
        durations.load_state_dict(tensors)
    except RuntimeError as error:
        raise VPRError(f"{path} is of another version of vpr: fit the durations again") from error
    return durations.eval()


def fingerprint(model: VPR) -> str:
    """A hash of the weights in float32, independent of device and dtype."""
    return digest({name: tensor.float().cpu() for name, tensor in model.state_dict().items()}, {})


def data_for(name: Path | str, instead: str | None = None, path: str | None = None) -> Dataset:
    """The dataset that a model was trained on, or the dataset with the name `instead`.

    The configuration of a model cannot choose files on this machine. For a dataset that reads
    files, `path` names the footage, vectors or file.
    """
    data: Any = _data_of(find_model(str(name))) if instead is None else dataset(instead)
    if path is None:
        return data  # type: ignore[no-any-return]
    if not (local := local_fields(data)):
        raise VPRError(f"{data.name} reads no files: leave out --path")
    return replace(data, **{local[0]: path})  # type: ignore[no-any-return]


def _data_of(folder: Path) -> Any:
    """The dataset in the configuration of a model, without paths."""
    config = read_config(folder)
    if "data" not in config:
        raise VPRError(f"{folder / CONFIG} names no dataset: choose one with --data")
    hint, where = get_type_hints(RunConfig)["data"], f"{CONFIG}.data"
    values = config["data"]
    if isinstance(values, dict):
        paths = {name for each in get_args(hint) for name in local_fields(each)}
        values = {name: value for name, value in values.items() if name not in paths}
    data: Any = typed(hint, values, where)
    model = from_dict(ModelConfig, config.get("model", {}), f"{CONFIG}.model")
    if "path" not in local_fields(data) and tuple(data.frame) != model.frame:
        raise VPRError(
            f"{folder / CONFIG}: model.frame {model.frame} is not the frame of {data.name}"
        )
    return data


def shipped_models() -> list[str]:
    """The names of the shipped models."""
    return sorted(path.parent.name for path in _shipped().glob(f"*/{CONFIG}"))


def _shipped() -> Path:
    return Path(str(resources.files("vpr") / "pretrained"))


def find_model(name: str) -> Path:
    """The folder of a model; see `load_model`."""
    if (Path(name) / CONFIG).exists():
        if not (Path(name) / MODEL).exists():
            raise VPRError(f"{name} has no {MODEL} yet: train it first")
        return Path(name)
    if name in shipped_models():
        return _shipped() / name
    if Path(name).is_dir():
        raise VPRError(f"{name} is not a run folder: it has no {CONFIG}")
    if name in PRESETS:
        raise VPRError(f"{name} is a preset: train it first with vpr train {name}")
    if Path(name).exists() or name.count("/") != 1 or name.startswith((".", "/", "~")):
        close = get_close_matches(name, shipped_models(), 1)
        choices = f"give a run folder, a hub id, or {' or '.join(shipped_models())}"
        advice = f"did you mean {close[0]}?" if close else choices
        raise VPRError(f"no model {name!r}: {advice}")
    return _download(*name.split("@", 1))


def _download(name: str, revision: str | None = None) -> Path:
    """A repository of the hub, at a commit, tag or branch if one is given."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise VPRError(
            f"no model {name!r} on this machine: give a run folder or "
            f"{' or '.join(shipped_models())}; for the hub, pip install 'vpr-torch[hub]' first"
        ) from None
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=PUBLISHED))
    except Exception as error:  # the client of the hub raises many different types
        what = name if revision is None else f"{name}@{revision}"
        # The status of the answer, if there was one; the hub answers 401 to hide private models.
        status = getattr(getattr(error, "response", None), "status_code", None)
        absent = status in (401, 403, 404) or isinstance(error, ValueError)  # an impossible name
        hub = "has no such model" if absent else "could not be reached"
        raise VPRError(f"no run folder {what}, and the Hugging Face Hub {hub}") from error


def read_config(folder: Path) -> dict[str, Any]:
    """The contents of config.json without the format version, which is checked."""
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
