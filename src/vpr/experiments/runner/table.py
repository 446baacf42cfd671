"""`results/README.md`: every claim of the paper beside what we measured, made from the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vpr.experiments.runner.base import SCALES, Claim, Experiment, Scale
from vpr.experiments.runner.store import load
from vpr.experiments.shared.panels import spread
from vpr.utils.files import write_text

HEAD = """\
# Results

Made by `vpr reproduce` from the JSON files in this folder; do not edit. Ours is the mean ± the
standard deviation (n − 1) over all runs that were made under the setting, with the lowest and the
highest; n is their number. F1 counts boundaries at the exact frame of a change, on fresh sequences.
"""
COLUMNS = ("experiment", "what", "paper", "ours", "lowest, highest", "n", "how ours differs")


def write_table(folder: Path, scale: Scale) -> None:
    """One table of all claims, then the figures."""
    from vpr.experiments import EXPERIMENTS

    rows, figures = [COLUMNS, ("---",) * len(COLUMNS)], []
    for experiment in EXPERIMENTS.values():
        if results := load(folder, experiment, scale):
            link = f"[{experiment.name}](#{experiment.name})"
            rows += [(link, *_row(claim)) for claim in experiment.claims(results)]
            figures.append(_figure(experiment))
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    scale_line = f"Scale `{scale}`: {SCALES[scale]}."
    write_text(folder / "README.md", "\n".join([HEAD, scale_line, "", table, *figures]))


def _figure(experiment: Experiment) -> str:
    name = experiment.name
    picture = f"![{experiment.title}]({name}/{name}.png)"
    return f"\n## {name}\n\n{experiment.title}. `vpr reproduce {name}`\n\n{picture}\n"


def _row(claim: Claim) -> tuple[str, ...]:
    ends = f"{_number(min(claim.ours), claim)}, {_number(max(claim.ours), claim)}"
    return claim.what, claim.paper, shown(claim), ends, str(len(claim.ours)), claim.setting


def shown(claim: Claim) -> str:
    """Mean ± standard deviation."""
    values = np.asarray(claim.ours)
    return f"{_number(values.mean(), claim)} ± {_number(float(spread(values)), claim)}"


def _number(value: float, claim: Claim) -> str:
    return f"{100 * value:.1f} %" if claim.percent else f"{value:.{claim.digits}f}"
