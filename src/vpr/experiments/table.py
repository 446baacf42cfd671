"""`results/README.md`: every claim of the paper beside what we measured, made from the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vpr.experiments.base import SCALES, Claim, Experiment, Scale
from vpr.experiments.figures import spread
from vpr.experiments.store import load
from vpr.files import write_text

HEAD = """\
# Results

Made by `vpr reproduce` from the JSON files in this folder; do not edit. Ours is the mean ± the
standard deviation (n − 1) over all runs that were made under the setting, with the lowest and the
highest; n is their number. F1 counts boundaries at the exact frame of a change, on fresh sequences.
"""
COLUMNS = ("what", "paper", "ours", "lowest, highest", "n", "how ours differs")


def write_table(folder: Path, scale: Scale) -> None:
    from vpr.experiments import EXPERIMENTS

    parts = [HEAD, f"Scale `{scale}`: {SCALES[scale]}.\n"]
    for experiment in EXPERIMENTS.values():
        parts += _section(experiment, folder, scale)
    write_text(folder / "README.md", "\n".join(parts))


def _section(experiment: Experiment, folder: Path, scale: Scale) -> list[str]:
    results = load(folder, experiment, scale)
    if not results:
        return []
    rows = [COLUMNS, ("---",) * len(COLUMNS), *map(_row, experiment.claims(results))]
    return [
        f"## {experiment.name}\n",
        f"{experiment.title}: `vpr reproduce {experiment.name}`\n",
        "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n",
        f"![{experiment.title}]({experiment.name}/{experiment.name}.png)\n",
    ]


def _row(claim: Claim) -> tuple[str, ...]:
    ends = f"{_number(min(claim.ours), claim)}, {_number(max(claim.ours), claim)}"
    return claim.what, claim.paper, shown(claim), ends, str(len(claim.ours)), claim.setting


def shown(claim: Claim) -> str:
    """Mean ± standard deviation."""
    values = np.asarray(claim.ours)
    return f"{_number(values.mean(), claim)} ± {_number(float(spread(values)), claim)}"


def _number(value: float, claim: Claim) -> str:
    return f"{100 * value:.1f} %" if claim.percent else f"{value:.4f}"
