"""Sheets of generated frames, stored in the results so that figures need no model."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from vpr.experiments.runner.experiment import Results
from vpr.generation.film import Film, Pixels, sheet
from vpr.utils.figures import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUALITY = 90  # of the JPEG, which has a tenth of the size of a PNG
WIDTH = 13.0  # of a figure, in inches
TITLE = 0.45  # height of a title, in inches


def encode_sheet(film: Film) -> str:
    """The sheet of a film as a JPEG in base64."""
    file = BytesIO()
    Image.fromarray(sheet(film)).save(file, "JPEG", quality=QUALITY, subsampling=0)
    return b64encode(file.getvalue()).decode()


def decode_image(text: str) -> Pixels:
    return np.asarray(Image.open(BytesIO(b64decode(text))))


def draw_first_sheets(results: Results, titles: Mapping[str, str]) -> Figure:
    """The metric `sheet` of the first run of each variant."""
    return draw_sheets({titles[name]: runs[0].metrics["sheet"] for name, runs in results.items()})


def draw_sheets(sheets: Mapping[str, str]) -> Figure:
    """Sheets in a column, with titles."""
    pictures = [decode_image(text) for text in sheets.values()]
    heights = [WIDTH * len(each) / each.shape[1] + TITLE for each in pictures]
    with panels(1, len(pictures), WIDTH, sum(heights) / len(heights)) as (figure, axes):
        axes[0].get_subplotspec().get_gridspec().set_height_ratios(heights)  # type: ignore[union-attr]
        for picture, title, each in zip(pictures, sheets, axes, strict=True):
            each.imshow(picture)
            each.set_title(title)
            each.set_axis_off()
    return figure
