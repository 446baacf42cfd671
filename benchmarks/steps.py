"""The functions that are timed: steps of the image network, of the hierarchy, and of training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from torch import Tensor

from benchmarks.plain_codecs import make_plain_codec, plain_nll
from vpr.model import VPR
from vpr.training.checkpoint import RunFolder
from vpr.training.distributed import ProcessGroup
from vpr.training.loop import Trainer
from vpr.training.metrics import MetricsLog
from vpr.training.session import Session

Step = Callable[[], object]


def limit_step(model: VPR, frames: Tensor, decoded: Tensor | None = None) -> Step:
    """The image network alone, with c⁰ := x⁰, forward and backward on frames (M, *frame).

    The lower limit of a training step: the time without the hierarchy and the optimiser. All frames
    are encoded; those with the indices `decoded`, or all, are decoded.
    """
    codec, likelihood = model.codec, model.likelihood
    chosen = slice(None) if decoded is None else decoded

    def step() -> None:
        y = codec.to_layout(frames)
        output = codec.decode(codec.encode(y)[chosen])
        loss = likelihood.nll(output, y[chosen]) / len(output)
        codec.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]

    return step


def plain_step(model: VPR, frames: Tensor, decoded: Tensor | None = None) -> Step:
    """`limit_step` with stock layers."""
    plain = make_plain_codec(model.codec, model.config.frame)
    chosen = slice(None) if decoded is None else decoded

    def step() -> None:
        output = plain.decode(plain.encode(frames)[chosen])
        loss = plain_nll(output, frames[chosen], model.config.likelihood) / len(output)
        plain.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]

    return step


def core_step(model: VPR, x0: Tensor, noise: Tensor) -> Step:
    """The hierarchy alone, from x⁰ (B, T, D) to c⁰ and the KLs, forward and backward."""
    x0 = x0.detach().requires_grad_()

    def step() -> None:
        trace = model.observe_encoded(x0, noise=noise)
        loss = trace.c0.square().mean()
        for level in trace.levels:
            loss = loss + level.kl.mean()
        model.zero_grad()
        x0.grad = None
        loss.backward()  # type: ignore[no-untyped-call]

    return step


@contextmanager
def training_step(session: Session, video: Tensor) -> Iterator[Step]:
    """A complete training step on a given video.

    The trainer needs a run folder, which is temporary; a step does not write to it.
    """
    with TemporaryDirectory() as path:
        folder = RunFolder(path)
        with MetricsLog(folder, session.config, session.step) as log:
            trainer = Trainer(session, folder, log, ProcessGroup("cpu"))
            yield lambda: trainer.step(video)
