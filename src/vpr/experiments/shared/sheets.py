"""Sheets of films in the results: kept as small pictures, so that figures need no model."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from vpr.experiments.shared.panels import panels
from vpr.generation.film import Film
from vpr.generation.film_sheet import Pixels, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUALITY = 90  # of the JPEG, a tenth of the PNG's size
WIDTH = 13.0  # of a figure, in inches
TITLE = 0.45


def as_text(film: Film) -> str:
    """The sheet as a JPEG, in base64."""
    file = BytesIO()
    Image.fromarray(sheet(film)).save(file, "JPEG", quality=QUALITY, subsampling=0)
    return b64encode(file.getvalue()).decode()


def as_pixels(text: str) -> Pixels:
    return np.asarray(Image.open(BytesIO(b64decode(text))))


def draw_sheets(sheets: Mapping[str, str]) -> Figure:
    """One above the other, each under its title."""
    pictures = [as_pixels(text) for text in sheets.values()]
    heights = [WIDTH * len(each) / each.shape[1] + TITLE for each in pictures]
    with panels(1, len(pictures), WIDTH, sum(heights) / len(heights)) as (figure, axes):
        axes[0].get_subplotspec().get_gridspec().set_height_ratios(heights)  # type: ignore[union-attr]
        for picture, title, each in zip(pictures, sheets, axes, strict=True):
            each.imshow(picture)
            each.set_title(title)
            each.set_axis_off()
    return figure
