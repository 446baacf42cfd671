"""The model and the dataset that `demo`, `evaluate`, `report`, `rollout` and `sample` are given."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from vpr.cli.show import prepare, prepare_for_few
from vpr.data import Dataset

if TYPE_CHECKING:
    from vpr.model import VPR


def open_model_and_data(arguments: argparse.Namespace, *, few: bool) -> tuple[VPR, Dataset]:
    """The model, and its dataset, prepared completely or for a `few` sequences."""
    from vpr.pretrained import data_for, load_model

    model = load_model(arguments.model)
    data = data_for(arguments.model, arguments.data, arguments.path)
    if few:
        prepare_for_few(data)
    else:
        prepare(data)
    return model, data
