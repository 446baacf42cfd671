"""A training run of a baseline: the session of VPR without windows of D_st, and loading."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from vpr.baselines.baseline_config import BaselineRun, CWVAEConfig, VTAConfig
from vpr.baselines.baseline_model import Baseline
from vpr.baselines.cw_vae import CWVAE
from vpr.baselines.vta import VTA
from vpr.errors import VPRError
from vpr.events import Window
from vpr.pretrained import CONFIG, MODEL, read_config
from vpr.training.loop import train
from vpr.training.session import Session
from vpr.utils.config_json import from_dict
from vpr.utils.files import read_tensors


class BaselineSession(Session):
    """Everything that changes while a baseline trains, with Adam as in the published code."""

    config: BaselineRun
    model: Baseline  # type: ignore[assignment]

    def make_model(self) -> Any:
        return make_baseline(self.config.model)

    def make_optimiser(self) -> torch.optim.Optimizer:
        vta = isinstance(self.config.model, VTAConfig)
        return torch.optim.Adam(
            self.model.parameters(),
            lr=self.config.training.learning_rate,
            eps=1e-8 if vta else 1e-4,
            amsgrad=vta,
            fused=self.model.device.type in ("cpu", "cuda"),
        )

    def initial_state(self) -> Any:
        """None: baselines observe every sequence from its beginning."""
        return None

    def advance(self, trace: Any, reconstruction: float) -> None:
        """Record that a step is done."""
        self.model.after_step()
        self.step += 1

    def _estimate_from_data(self) -> tuple[float, float]:
        """As in VPR; also the mean and standard deviation of the pixels."""
        nats = super()._estimate_from_data()
        self.model.normalise(self.batch())
        return nats

    def initial_windows(self) -> tuple[Window, ...]:
        """None: baselines have no D_st."""
        return ()

    def restore_windows(self, tensors: dict[str, Tensor]) -> None:
        """Nothing to restore: baselines have no D_st."""


def make_baseline(config: VTAConfig | CWVAEConfig) -> VTA | CWVAE:
    """The untrained model of a configuration."""
    return VTA(config) if isinstance(config, VTAConfig) else CWVAE(config)


train_baseline = partial(train, make_session=BaselineSession)


def load_baseline(folder: Path | str) -> VTA | CWVAE:
    """The model of a run folder."""
    folder = Path(folder)
    config = from_dict(BaselineRun, read_config(folder), CONFIG)
    if not (folder / MODEL).exists():
        raise VPRError(f"{folder} has no {MODEL} yet: train it first")
    model = make_baseline(config.model)
    try:
        model.load_state_dict(read_tensors(folder / MODEL)[0])
    except RuntimeError as error:
        raise VPRError(f"{folder / MODEL} does not fit {CONFIG}") from error
    return model.eval()
