"""Colours of D_st, D_ch, the threshold and the kinds of events, for pages, figures and plots.

D_ch has the colour of CE and the threshold that of CU, because these criteria compare D_st with
them: CE is D_st > D_ch, CU is D_st > threshold. Levels, factors and datasets have the other hues,
`OTHERS`, so that a colour has one meaning everywhere. All are from the colour-blind-safe palette of
Okabe and Ito.
"""

from __future__ import annotations

from typing import NamedTuple

from vpr.events import Kind


class Colour(NamedTuple):
    """A colour on a light background, and its variant for a dark one."""

    light: str
    dark: str


D_ST = Colour("#1c2229", "#e9ecef")  # the colour of the text
CE = D_CH = Colour("#d55e00", "#ff8f3f")
CU = THRESHOLD = Colour("#009e73", "#3fd0a5")
BOTH = Colour("#0072b2", "#5ab4f0")
CLOCK = Colour("#666666", "#8c959f")
OTHERS = ("#56b4e9", "#e69f00", "#cc79a7", "#f0e442")  # sky blue, orange, purple, yellow
KINDS: dict[Kind, Colour] = {"expected": CE, "unexpected": CU, "both": BOTH, "clock": CLOCK}


def css_variables() -> str:
    """The palette as CSS variables that follow the colour scheme of the page."""
    names = {"st": D_ST, "ce": CE, "cu": CU, "both": BOTH, "clock": CLOCK}
    lines = (f"  --{name}: light-dark({c.light}, {c.dark});" for name, c in names.items())
    return "\n".join([":root {", *lines, "}"])
