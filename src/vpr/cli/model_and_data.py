"""The model and the dataset of a command, prepared, with sequences that are not too long."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from vpr.cli.show import print_message, progress_bars
from vpr.data import Vectors, Video
from vpr.data.base import Dataset, Prepared, Recorded, max_length
from vpr.errors import VPRError

if TYPE_CHECKING:
    from vpr.model import VPR


def open_model_and_data(arguments: argparse.Namespace, *, few: bool) -> tuple[VPR, Dataset]:
    """The model, and its dataset, prepared completely or for a `few` sequences."""
    from vpr.pretrained import data_for, load_model

    model = load_model(arguments.model)
    data = data_for(arguments.model, arguments.data, arguments.path)
    if arguments.data is None:
        check_path(data, "--path", "the path in the configuration of a model is not opened")
    if few:
        prepare_for_few(data)
    else:
        prepare(data)
    return model, data


def prepare(data: Dataset, path_option: str = "--path") -> None:
    """Prepare a dataset, if it needs preparation, with a progress bar."""
    check_path(data, path_option)
    if isinstance(data, Prepared):
        title, unit = "Preparing (once):", "pictures"
        if isinstance(data, Video):
            title, unit = "Decoding footage (cached):", "frames"
        with progress_bars([title]) as advance:
            data.prepare(lambda done, total: advance(0, done, total, unit))


def check_path(data: Dataset, option: str, why: str = "") -> None:
    """Raise an error with the command's own option if the dataset needs a path and has none."""
    if isinstance(data, Video | Vectors) and not data.path:
        files = '"footage/*.mp4"' if isinstance(data, Video) or data.features else "features.npy"
        what = "footage" if isinstance(data, Video) else "vectors"
        raise VPRError(f"give {what} with {option} {files}" + (f": {why}" if why else ""))


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
