"""A sweep over γ as a table and as a figure."""

from __future__ import annotations

import csv
import warnings
from io import BytesIO, StringIO
from pathlib import Path

from vpr.experiments.shared.panels import BOTH, CE, CU, GREY, OTHERS, panels, require_matplotlib
from vpr.segmenting.sweep import Sweep
from vpr.utils.files import write_bytes, write_text

LINES = (BOTH, CE, CU, *OTHERS)


def write_sweep(stem: Path, swept: Sweep) -> list[Path]:
    """Write NAME.sweep.csv and NAME.sweep.png; returns the paths."""
    table, drawing = (stem.with_name(f"{stem.name}.sweep.{kind}") for kind in ("csv", "png"))
    write_text(table, as_csv(swept))
    write_bytes(drawing, as_png(swept))
    return [table, drawing]


def as_csv(swept: Sweep) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["gamma", "level", "events", "events_per_minute"])
    for level, counts in swept.events.items():
        for gamma, count in zip(swept.gammas, counts, strict=True):
            minutes = swept.seconds / 60
            each = f"{count / minutes:.4f}" if minutes else ""
            writer.writerow([f"{gamma:.4f}", level, int(count), each])
    return text.getvalue()


def as_png(swept: Sweep) -> bytes:
    """The number of events over γ, one line per level, on logarithmic axes."""
    require_matplotlib()
    buffer = BytesIO()
    with panels(1, width=7.0, height=4.4) as (figure, (axes,)):
        axes.set_xscale("log")
        axes.set_yscale("symlog", linthresh=1)
        for place, (level, counts) in enumerate(swept.events.items()):
            colour = LINES[place % len(LINES)]
            axes.plot(swept.gammas, counts, "o-", color=colour, label=f"level {level}")
        axes.axvline(swept.own, color=GREY, linestyle="--", label=f"γ of the model, {swept.own:g}")
        axes.set_xticks(swept.gammas[::3], [f"{gamma:.2g}" for gamma in swept.gammas[::3]])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:.0f}")
        axes.set_ylim(0, 2 * max(int(counts.max()) for counts in swept.events.values()) + 1)
        axes.set_xlabel("γ, the multiple of the typical D_st (--threshold)")
        axes.set_ylabel("events")
        axes.set_title(f"{Path(swept.source).name}, {swept.frames} frames")
        axes.legend()
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", "Glyph"
            )  # a file name with characters that the font lacks
            figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()
