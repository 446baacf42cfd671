"""A sweep over γ as a table and as a figure."""

from __future__ import annotations

import csv
import warnings
from io import BytesIO, StringIO
from pathlib import Path

from vpr.segmenting.sweep import Sweep
from vpr.utils.figures import GREY, OTHERS, panels, require_matplotlib
from vpr.utils.files import write_bytes, write_text


def write_sweep(stem: Path, sweep: Sweep) -> list[Path]:
    """Write NAME.sweep.csv and NAME.sweep.png; returns the paths."""
    table, figure_path = (stem.with_name(f"{stem.name}.sweep.{kind}") for kind in ("csv", "png"))
    write_text(table, as_csv(sweep))
    write_bytes(figure_path, as_png(sweep))
    return [table, figure_path]


def as_csv(sweep: Sweep) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["gamma", "level", "events", "events_per_minute"])
    for level, counts in sweep.events.items():
        for gamma, count in zip(sweep.gammas, counts, strict=True):
            minutes = sweep.seconds / 60
            each = f"{count / minutes:.4f}" if minutes else ""
            writer.writerow([f"{gamma:.4f}", level, int(count), each])
    return text.getvalue()


def as_png(sweep: Sweep) -> bytes:
    """The number of events over γ, one line per level, on logarithmic axes."""
    require_matplotlib()
    buffer = BytesIO()
    with panels(1, width=7.0, height=4.4) as (figure, (axes,)):
        axes.set_xscale("log")
        axes.set_yscale("symlog", linthresh=1)
        for place, (level, counts) in enumerate(sweep.events.items()):
            colour = OTHERS[place % len(OTHERS)]
            axes.plot(sweep.gammas, counts, "o-", color=colour, label=f"level {level}")
        axes.axvline(sweep.own, color=GREY, linestyle="--", label=f"γ of the model, {sweep.own:g}")
        axes.set_xticks(sweep.gammas[::3], [f"{gamma:.2g}" for gamma in sweep.gammas[::3]])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:.0f}")
        axes.set_ylim(0, 2 * max(int(counts.max()) for counts in sweep.events.values()) + 1)
        axes.set_xlabel("γ, the multiple of the typical D_st (--threshold)")
        axes.set_ylabel("events")
        axes.set_title(f"{Path(sweep.source).name}, {sweep.frames} frames")
        axes.legend()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph")  # of file names, missing in the font
            figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()
