"""The model and the dataset of a command, prepared, with sequences that are not too long."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from vpr.cli.show import print_message, progress_bars
from vpr.data.base import Dataset, Prepared, Recorded, max_length

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


def prepare(data: Dataset) -> None:
    """Prepare a dataset, if it needs preparation, with a progress bar."""
    if isinstance(data, Prepared):
        with progress_bars(["Preparing (once):"]) as advance:
            data.prepare(lambda done, total: advance(0, done, total, "pictures"))


def sequence_length(arguments: argparse.Namespace, data: Dataset) -> int:
    """`--length`; by default the length of the command, or less if recordings are shorter."""
    if arguments.length is not None:
        return int(arguments.length)
    default, limit = int(arguments.default_length), max_length(data)
    if limit is None or not 2 <= limit < default:
        return default
    print_message(
        f"Sequences have {limit} frames instead of {default}: this part of the data has no more."
    )
    return limit


def prepare_for_few(data: Dataset) -> None:
    """Prepare a dataset for a few sequences: only recordings must be prepared completely."""
    if isinstance(data, Recorded):
        prepare(data)
