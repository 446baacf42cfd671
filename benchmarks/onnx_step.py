"""The exported step in onnxruntime, compared with `Stream` on the same frames."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from torch import Tensor

from benchmarks.timing import Bar, median_seconds
from vpr.model import VPR
from vpr.onnx_export import export_onnx
from vpr.onnx_stream import OnnxStream
from vpr.stream import Stream

PACKAGES = ("onnx", "onnxscript", "onnxruntime")
FRAMES = 200  # timed together, so that frames with and without events are in each round


def bench_onnx(model: VPR, scene: list[Tensor], repeats: int, bar: Bar) -> dict[str, float]:
    """Seconds per frame with events where the model finds them; empty without the packages."""
    if not all(map(find_spec, PACKAGES)):
        return {}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "step.onnx"
        export_onnx(model, path)
        streams: dict[str, Stream | OnnxStream] = {"torch": Stream(model), "onnx": OnnxStream(path)}

        def push(name: str) -> None:
            for frame in scene[:FRAMES]:
                streams[name].push(frame)

        timed = median_seconds(
            {"torch": lambda: push("torch"), "onnx": lambda: push("onnx")}, repeats, bar
        )
    frames = len(scene[:FRAMES])
    return {
        "torch_s": timed["torch"] / frames,
        "onnx_s": timed["onnx"] / frames,
        "onnx_over_torch": timed["onnx"] / timed["torch"],
    }
