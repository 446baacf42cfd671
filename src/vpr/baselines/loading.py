"""Loading a trained baseline from its run folder."""

from __future__ import annotations

from pathlib import Path

from vpr.baselines.baseline_config import BaselineRun
from vpr.baselines.baseline_session import make_baseline
from vpr.baselines.cw_vae import CWVAE
from vpr.baselines.vta import VTA
from vpr.errors import VPRError
from vpr.pretrained import CONFIG, MODEL, read_config
from vpr.utils.config_json import from_dict
from vpr.utils.files import read_tensors


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
