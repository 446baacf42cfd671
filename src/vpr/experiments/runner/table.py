"""Write `results/README.md`, the table of all claims and measurements."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vpr.experiments.runner.base import SCALES, Claim, Experiment, Scale
from vpr.experiments.runner.store import load
from vpr.experiments.shared.panels import sample_std
from vpr.utils.files import write_text

HEAD = """\
# Results

Written by `vpr reproduce` from the JSON files in this folder; do not edit. Ours is the mean ± the
sample standard deviation over all n runs of the setting, followed by the lowest and the highest
value. The last column lists the differences from the paper. F1 counts a boundary as correct only at
the exact frame of a change, and is computed on sequences that were not used for training.
"""
COLUMNS = ("experiment", "what", "paper", "ours", "lowest, highest", "n", "differences")


def write_table(folder: Path, scale: Scale) -> None:
    """Write one table of all claims, then the figures."""
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
    return claim.what, claim.paper, mean_and_std(claim), ends, str(len(claim.ours)), claim.setting


def mean_and_std(claim: Claim) -> str:
    """Mean ± standard deviation."""
    values = np.asarray(claim.ours)
    return f"{_number(values.mean(), claim)} ± {_number(float(sample_std(values)), claim)}"


def _number(value: float, claim: Claim) -> str:
    return f"{100 * value:.1f} %" if claim.percent else f"{value:.{claim.digits}f}"
