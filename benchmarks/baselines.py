"""`vpr bench baselines`: a training step of VPR, VTA and CW-VAE on the same video."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from typing import Any, TypeVar

import torch

from benchmarks.models import matching_model
from benchmarks.steps import Step, training_step
from benchmarks.timing import Bar, median_seconds
from vpr.baselines import BaselineRun, BaselineSession, CWVAEConfig, VTAConfig
from vpr.config import RunConfig
from vpr.training.loop import without_denormals
from vpr.training.session import Session
from vpr.training.stages import Stage

SHARED = ("frame", "network", "channels", "colour_masks")  # the image network of the preset
STAGES = (Stage("ELBO", 1.0),)
Model = TypeVar("Model", VTAConfig, CWVAEConfig)


def bench_baselines(config: RunConfig, repeats: int, bar: Bar) -> dict[str, Any]:
    """Seconds and frames per second of each model, and how many times faster VPR is.

    All train on the same batch. They share the image network of the preset; `vta_published` has
    the published one of VTA, if frames are square. Everything else has its published size.
    """
    frames = config.training.batch_size * config.training.length
    with without_denormals(), _contenders(config) as contenders:
        timed = median_seconds(contenders, repeats, bar)
    return {
        "preset": config.preset,
        "threads": torch.get_num_threads(),
        "repeats": repeats,
        "frames": frames,
        "frame": list(config.model.frame),
        **{f"{name}_s": value for name, value in timed.items()},
        **{f"{name}_fps": frames / value for name, value in timed.items()},
        **{f"{name}_over_vpr": timed[name] / timed["vpr"] for name in timed if name != "vpr"},
    }


@contextmanager
def _contenders(config: RunConfig) -> Iterator[dict[str, Step]]:
    """A level of VPR computes as often as it updates: trained weights, where there are any."""
    session = Session(replace(config, stages=STAGES))
    session.model.load_state_dict(matching_model(config)[0].state_dict())
    sessions: dict[str, Session] = {"vpr": session}
    for name, model in _baselines(config).items():
        run = BaselineRun(model=model, data=config.data, training=config.training, stages=STAGES)
        sessions[name] = BaselineSession(run)
    video = session.batch()
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(training_step(each, video)) for name, each in sessions.items()
        }


def _baselines(config: RunConfig) -> dict[str, VTAConfig | CWVAEConfig]:
    vta = _with_images(VTAConfig, config)
    found: dict[str, VTAConfig | CWVAEConfig] = {
        "vta": vta,
        "cw_vae": _with_images(CWVAEConfig, config),
    }
    rows, columns = (*config.model.frame, 0, 0)[1:3]
    if rows == columns and rows in (16, 32, 64, 128):
        found["vta_published"] = replace(vta, images="published")
    return found


def _with_images(kind: type[Model], config: RunConfig) -> Model:
    """The published sizes, with the image network of the preset."""
    return kind(**{f.name: getattr(config.model, f.name) for f in fields(kind) if f.name in SHARED})
