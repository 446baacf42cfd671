"""A stream that runs a file of `vpr.onnx_export` with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.config import ModelConfig
from vpr.errors import VPRError
from vpr.events import Boundary, Evidence, LevelEvidence, boundaries
from vpr.onnx_export import CONFIG, FRAME, INSTALL, NEXT
from vpr.utils.checks import check_frames, check_values
from vpr.utils.config_json import from_dict
from vpr.utils.files import parse_json

TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64}
EVIDENCE = len(Evidence._fields)  # number of outputs before the state


class OnnxStream:
    """Detects boundaries in one video, frame by frame, like `Stream` and with the same results.

    Plain version: `vpr.stream.Stream`, compared in tests/test_onnx_export.py.

    `state` is all that the stream remembers, by the names of `vpr.onnx_export.named`. To continue a
    stream, pass its state.

    Args:
        path: A file of `export_onnx`.
        state: The state before the next frame; without it, a new video.
        threads: Threads of onnxruntime.
    """

    def __init__(
        self,
        path: Path | str,
        state: Mapping[str, NDArray[Any] | Tensor] | None = None,
        threads: int = 1,
    ) -> None:
        self._session = _session(path, threads)
        inputs = self._session.get_inputs()
        self._outputs = [each.name for each in self._session.get_outputs()]
        self.config = _config(self._session, path)
        zeros = {i.name: np.zeros(i.shape, TYPES[i.type]) for i in inputs if i.name != FRAME}
        self.state = zeros if state is None else _fitting(state, zeros)
        self.evidence: list[LevelEvidence] = []

    def push(self, frame: Tensor) -> list[Boundary]:
        """Process one frame of the model's shape; its boundaries, lowest level first."""
        check_frames(frame, (), self.config, torch.float32)
        check_values(frame, self.config)
        number = int(self.state["time"][0])
        found = self._session.run(None, {FRAME: frame.numpy(), **self.state})
        names = (name.removeprefix(NEXT) for name in self._outputs[EVIDENCE:])
        self.state = dict(zip(names, found[EVIDENCE:], strict=True))
        fields = (field.tolist() for field in found[:EVIDENCE])
        levels = [LevelEvidence(*row) for row in zip(*fields, strict=True)]
        self.evidence = _reached(levels) if number else levels[:1]
        return list(boundaries(self.evidence, number))


def _reached(levels: list[LevelEvidence]) -> list[LevelEvidence]:
    """Up to the first level that did not update."""
    first = next((n for n, each in enumerate(levels) if not each.boundary), len(levels))
    return levels[: first + 1]


def _session(path: Path | str, threads: int) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise VPRError(INSTALL) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    if not Path(path).is_file():
        raise VPRError(f"there is no {path}: write it with vpr.onnx_export.export_onnx")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a separate type for each status
        raise VPRError(f"{path} is not a complete ONNX file: export it again") from error


def _config(session: Any, path: Path | str) -> ModelConfig:
    text = session.get_modelmeta().custom_metadata_map.get(CONFIG)
    try:
        config = parse_json(text or "")
    except ValueError as error:
        raise VPRError(f"{path} was not written by vpr.onnx_export.export_onnx") from error
    return from_dict(ModelConfig, config, str(path))


def _fitting(
    state: Mapping[str, NDArray[Any] | Tensor], zeros: dict[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    found = {name: np.asarray(value) for name, value in state.items()}
    if {k: v.shape for k, v in found.items()} != {k: v.shape for k, v in zeros.items()}:
        raise VPRError("the state is not that of a stream of this model")
    return {name: value.astype(zeros[name].dtype) for name, value in found.items()}
