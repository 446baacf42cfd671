"""The colours of criteria and events are used for nothing else."""

from pathlib import Path

import numpy as np

from vpr.data.pictures import FACTOR_COLOURS
from vpr.pages import palette
from vpr.utils import figures

SOURCE = Path(__file__).parents[2] / "src" / "vpr"
RESERVED = {palette.D_ST, palette.CE, palette.CU, palette.BOTH, palette.CLOCK}


def test_levels_factors_and_datasets_have_hues_of_their_own() -> None:
    reserved = {colour for pair in RESERVED for colour in pair}
    assert not reserved & {*palette.OTHERS, *figures.LEVEL_COLOURS}
    assert len(reserved) == 2 * len(RESERVED)


def test_contact_sheets_have_the_same_hues() -> None:
    hexadecimal = [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in FACTOR_COLOURS]
    assert tuple(hexadecimal) == palette.OTHERS


def test_reserved_colours_are_written_only_in_the_palette() -> None:
    """`--ink` of the pages is that of the text, which D_st has too."""
    files = [p for kind in ("*.py", "*.css", "*.js", "*.html") for p in SOURCE.rglob(kind)]
    for path in files:
        text = path.read_text(encoding="utf-8").lower()
        for pair in RESERVED - {palette.D_ST}:
            for colour in pair:
                assert colour not in text or path.name == "palette.py", f"{path}: {colour}"


def test_many_lines_have_different_colours() -> None:
    assert len(set(figures.line_colours(13))) == 13
    assert np.ndim(figures.line_colours(0)) == 1
