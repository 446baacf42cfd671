"""The exported step equals `Stream`: decisions, evidence and the whole state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from vpr import VPR, Stream, VPRError
from vpr.data import evaluation_rng
from vpr.events import Always
from vpr.onnx_export import CONFIG, export_onnx, named
from vpr.pretrained import data_for

pytest.importorskip("onnxscript")
pytest.importorskip("onnxruntime")

from vpr.onnx_stream import OnnxStream

TOLERANCE = 1e-4


@pytest.fixture(scope="module", params=["moving-ball", "3dsd"])
def shipped(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[VPR, Path, Tensor]:
    """A shipped model, the exported file, and frames of its dataset."""
    model = VPR.from_pretrained(request.param)
    path = tmp_path_factory.mktemp("onnx") / "step.onnx"
    export_onnx(model, path)
    data = data_for(request.param)
    return model, path, torch.from_numpy(data.batch(1, 150, evaluation_rng(0)).frames[0])


def assert_same(ours: OnnxStream, plain: Stream) -> None:
    """The evidence, and the state with its windows of D_st."""
    assert len(ours.evidence) == len(plain.evidence)
    for found, wanted in zip(ours.evidence, plain.evidence, strict=True):
        assert found[3:] == wanted[3:]
        assert found[:3] == pytest.approx(wanted[:3], rel=TOLERANCE, abs=TOLERANCE, nan_ok=True)
    wanted_state = named(plain.state)
    assert ours.state.keys() == wanted_state.keys()
    for name, value in wanted_state.items():
        np.testing.assert_allclose(ours.state[name], value, TOLERANCE, TOLERANCE, err_msg=name)


def test_equals_the_stream(shipped: tuple[VPR, Path, Tensor]) -> None:
    model, path, video = shipped
    plain, ours = Stream(model), OnnxStream(path)
    updates = torch.zeros(model.config.levels)
    for frame in video:
        wanted, found = plain.push(frame), ours.push(frame)
        assert [event[:3] for event in found] == [event[:3] for event in wanted]
        assert_same(ours, plain)
        updates[: len(found) + 1] += 1
    # Every level is blocked at some frames and updates at others.
    assert (updates[1:] > 0).all()
    assert (updates[1:] < len(video) / 2).all()


def test_a_stream_continues_in_the_graph(shipped: tuple[VPR, Path, Tensor]) -> None:
    model, path, video = shipped
    plain = Stream(model)
    for frame in video[:60]:
        plain.push(frame)
    ours = OnnxStream(path, named(plain.state))
    for frame in video[60:90]:
        plain.push(frame)
        ours.push(frame)
        assert_same(ours, plain)
    with pytest.raises(VPRError, match="not that of a stream of this model"):
        OnnxStream(path, {"time": np.zeros(1)})


def test_bad_frames_and_files_are_one_line(
    shipped: tuple[VPR, Path, Tensor], tmp_path: Path
) -> None:
    _, path, video = shipped
    ours = OnnxStream(path)
    for bad in (video[0] * 255, video[0] * torch.nan, video[0][:1], video[0].byte()):
        with pytest.raises(VPRError):
            ours.push(bad)
    with pytest.raises(VPRError, match=r"there is no .*: write it with"):
        OnnxStream(tmp_path / "missing.onnx")
    onnx = pytest.importorskip("onnx")
    for config in ({}, {CONFIG: "{"}):
        file = onnx.load(path)
        onnx.helper.set_model_props(file, config)
        onnx.save(file, tmp_path / "other.onnx")
        with pytest.raises(VPRError, match="was not written by"):
            OnnxStream(tmp_path / "other.onnx")
    (tmp_path / "half.onnx").write_bytes(path.read_bytes()[:1000])
    with pytest.raises(VPRError, match="not a complete ONNX file"):
        OnnxStream(tmp_path / "half.onnx")


@pytest.mark.parametrize("levels", [1, 2])
def test_other_rules_and_a_single_level(
    levels: int, tmp_path: Path, tiny_model: Callable[..., VPR], scenes: Callable[..., Tensor]
) -> None:
    model = tiny_model(levels, seed=12).float()
    model.rule = Always()
    export_onnx(model, tmp_path / "step.onnx")
    plain, ours = Stream(model), OnnxStream(tmp_path / "step.onnx")
    for frame in scenes(batch=1, length=6, seed=2)[0].float():
        assert len(plain.push(frame)) == len(ours.push(frame))
        assert_same(ours, plain)
