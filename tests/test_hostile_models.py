"""Untrusted models: each mistake or attack gives a one-line error before allocating memory."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests.cli.test_cli import vpr
from vpr import VPR, ModelConfig, VPRError
from vpr.data import DATASETS
from vpr.pretrained import data_for, load_model, save_pretrained
from vpr.utils.config_fields import local_fields
from vpr.utils.config_json import to_dict
from vpr.utils.files import write_tensors
from vpr.utils.shapes import state_shapes

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, tiny_model: Callable[..., VPR]) -> Path:
    save_pretrained(tiny_model(dtype=torch.float32), tmp_path)
    return tmp_path


def rewrite(folder: Path, section: str, **fields: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    config[section] = config.get(section, {}) | fields
    (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("width", 15_000, "does not fit config.json"),
        ("state_size", 60_000, "does not fit config.json"),
        ("channels", 60_000, "does not fit config.json"),
        ("levels", 16, "does not fit config.json"),
        ("layers", 16, "does not fit config.json"),
        ("width", 10**9, "width must be at most"),
        ("layers", 100_000, "layers must be at most"),
        ("levels", 1_000_000, "levels must be at most"),
        ("window", 10**11, "window must be at most"),
        ("window", 10**30, "cannot be"),
        ("gamma", 10**400, "401 digits"),
        ("gamma", [[["x" * 10_000]]], "cannot be"),
        ("frame", [10**12], "at most"),
        ("frame", [3, 10**12, 16], "multiples of 16"),
        ("intervals", [1] * 1_000_000, "cannot be"),
    ],
)
def test_absurd_sizes_are_refused_at_once(
    folder: Path, field: str, value: object, words: str
) -> None:
    rewrite(folder, "model", **{field: value})
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, perf_counter()
    with pytest.raises(VPRError, match=words) as error:
        load_model(folder)
    assert len(str(error.value)) < 500
    assert perf_counter() - start < 10
    if sys.platform == "linux":
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_json_of_3000_levels_is_one_line(folder: Path) -> None:
    (folder / "config.json").write_text('{"format": 2, "model": ' + "[" * 3000 + "]" * 3000 + "}")
    with pytest.raises(VPRError, match="nested too deeply"):
        load_model(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(folder: Path, value: float) -> None:
    weights = load_file(folder / "model.safetensors")
    name = next(name for name in weights if name.endswith("weight"))
    weights[name].view(-1)[0] = value
    write_tensors(folder / "model.safetensors", weights, {})
    with pytest.raises(VPRError, match="has NaN or infinite values"):
        load_model(folder)


def test_weights_that_are_too_large_are_refused(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    large = {name: weight * 1e30 for name, weight in weights.items()}
    write_tensors(folder / "model.safetensors", large, {})
    with pytest.raises(VPRError, match="the results of the model are NaN or infinite"):
        load_model(folder)


def test_a_report_of_states_that_are_not_finite_is_one_line(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with weights that are too large only for some frames."""
    monkeypatch.setattr("vpr.pretrained._check_results", lambda *_: None)
    model = VPR(ModelConfig(2, state_size=3, width=12, frame=(3, 16, 16), network="folded"))
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1e30)
    save_pretrained(model, folder)
    rewrite(folder, "data", name="moving-ball", size=16)
    code, _, err = vpr(capsys, "report", folder, "--sequences", 2, "--length", 4)
    assert code == 2
    assert "the states of the model are NaN or infinite" in err.splitlines()[-1]


def test_weights_of_16_bits_are_read(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    write_tensors(folder / "model.safetensors", {k: v.bfloat16() for k, v in weights.items()}, {})
    model = load_model(folder)
    assert model.dtype == torch.float32
    rounded = weights["codec.down.0.weight"].bfloat16().float()
    assert torch.equal(model.state_dict()["codec.down.0.weight"], rounded)


def test_weights_of_integers_are_refused(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    write_tensors(folder / "model.safetensors", {k: v.int() for k, v in weights.items()}, {})
    with pytest.raises(VPRError, match="not floats"):
        load_model(folder)


@pytest.mark.parametrize("fields", [{}, {"network": "folded"}, {"frame": (7,)}, {"levels": 3}])
def test_shapes_without_memory_are_those_of_the_model(fields: dict[str, Any]) -> None:
    config = ModelConfig(**fields)
    expected = {name: tuple(value.shape) for name, value in VPR(config).state_dict().items()}
    assert state_shapes(lambda: VPR(config)) == expected


def test_every_path_of_a_dataset_is_known_as_one() -> None:
    """A new field that is a path must be declared with `local=True`."""
    texts = {
        (name, field)
        for name, data in DATASETS.items()
        for field, value in to_dict(data).items()
        if value == "" and (name, field) != ("vectors", "features")  # a name, not a path
    }
    assert texts == {(name, f) for name, data in DATASETS.items() for f in local_fields(data)}
    assert ("video", "path") in texts


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"name": "moving-ball", "radius": 2**53}, "a radius up to 128"),
        (
            {"name": "3dsd", "floor_period": 2**53, "wall_period": 2**53 - 1},
            "floor_period must be 1 to",
        ),
        ({"name": "synthetic", "values": 2**53}, "2 to 1000 values"),
        ({"name": "bouncing-balls", "balls": 2**53}, "1 to 100 balls"),
    ],
)
def test_absurd_data_is_one_line(
    folder: Path, data: dict[str, Any], words: str, capsys: Capture
) -> None:
    rewrite(folder, "data", **data)
    code, _, err = vpr(capsys, "evaluate", folder, "--sequences", 1, "--length", 4)
    assert code == 2
    assert err.count("\n") == 1
    assert words in err


def test_too_little_memory_is_one_line(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("vpr.pretrained.read_tensors", refuse)
    code, _, err = vpr(capsys, "evaluate", folder, "--data", "moving-ball")
    assert code == 2
    assert err == "vpr: not enough memory: give fewer or smaller frames\n"


@pytest.mark.parametrize("name", ["video", "vectors", "3dsd"])
def test_a_model_chooses_no_paths(folder: Path, name: str) -> None:
    stolen = dict.fromkeys(local_fields(DATASETS[name]), "/etc/passwd")
    rewrite(folder, "data", name=name, **stolen)
    if name == "3dsd":
        rewrite(folder, "model", frame=[3, 64, 64])
    data = data_for(folder)
    assert [getattr(data, field) for field in stolen] == [""] * len(stolen)
    first, *rest = local_fields(data)
    given = data_for(folder, path="mine")
    assert getattr(given, first) == "mine"
    assert [getattr(given, field) for field in rest] == [""] * len(rest)


def test_a_dataset_without_files_takes_no_path() -> None:
    with pytest.raises(VPRError, match="moving-ball reads no files: leave out --path"):
        data_for("moving-ball", path="x")


@pytest.mark.parametrize("command", ["evaluate", "demo", "report", "rollout", "sample"])
def test_commands_read_what_the_user_names(
    folder: Path, command: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    np.save(folder / "secret.npy", np.random.default_rng(0).normal(size=(200, 4)))
    np.save(folder / "mine.npy", np.random.default_rng(1).normal(size=(400, 4)))
    save_pretrained(
        VPR(ModelConfig(2, state_size=3, width=12, frame=(4,), likelihood="gaussian")), folder
    )
    rewrite(folder, "data", name="vectors", path=str(folder / "secret.npy"))
    monkeypatch.setattr(np, "load", _never(folder / "secret.npy", np.load))
    few = ["--sequences", 2, "--length", 4] if command in ("evaluate", "demo", "report") else []
    few += ["--frames", 4] if command in ("rollout", "sample") else []
    code, _, err = vpr(capsys, command, folder, *few)
    assert code == 2
    assert "give vectors with --path" in err
    code, _, err = vpr(capsys, command, folder, "--path", folder / "mine.npy", *few)
    assert code == 0, err


def _never(path: Path, load: Callable[..., Any]) -> Callable[..., Any]:
    def checked(name: Any, *args: Any, **options: Any) -> Any:
        assert Path(name) != path, "a path that the model chose"
        return load(name, *args, **options)

    return checked
