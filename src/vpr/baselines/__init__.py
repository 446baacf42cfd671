"""Models to compare with: VTA and CW-VAE, trained by the same loop on the same image networks."""

from vpr.baselines.baseline_config import BaselineRun, CWVAEConfig, VTAConfig
from vpr.baselines.baseline_model import Baseline, BaselineLoss, BaselineRollout, BaselineTrace
from vpr.baselines.baseline_presets import BASELINES, baseline
from vpr.baselines.baseline_session import (
    BaselineSession,
    load_baseline,
    make_baseline,
    train_baseline,
)
from vpr.baselines.cw_vae import CWVAE
from vpr.baselines.vta import VTA

__all__ = [
    "BASELINES",
    "CWVAE",
    "VTA",
    "Baseline",
    "BaselineLoss",
    "BaselineRollout",
    "BaselineRun",
    "BaselineSession",
    "BaselineTrace",
    "CWVAEConfig",
    "VTAConfig",
    "baseline",
    "load_baseline",
    "make_baseline",
    "train_baseline",
]
