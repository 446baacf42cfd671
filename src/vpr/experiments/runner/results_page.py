"""Write `results/README.md`: main results, each experiment, and which claims are confirmed."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from vpr.experiments.runner.experiment import SCALES, Claim, Experiment, Scale
from vpr.experiments.runner.store import load
from vpr.experiments.runner.table import Footnotes, claims_table, main_table
from vpr.experiments.runner.verdicts import RULE, Kind, Verdict, comparisons, verdicts
from vpr.utils.files import write_text

HEAD = """\
# Results

Written by `vpr reproduce` from the JSON files in this folder; do not edit. Ours is the mean ± the
sample standard deviation over all n runs of a setting, followed by the lowest and the highest
value. Footnotes describe the settings with their differences from the paper. Unless a row says
otherwise, F1 counts a boundary as correct only at the exact frame of a change. It is computed on
sequences that were not used for training. Periodic and random are the mean F1 of as many boundaries
as were detected, at regular intervals and at random frames.
"""


def write_results_page(folder: Path, scale: Scale) -> None:
    from vpr.experiments import EXPERIMENTS

    found = [(each, load(folder, each, scale)) for each in EXPERIMENTS.values()]
    done = [(experiment, results) for experiment, results in found if results]
    claims = {experiment.name: experiment.claims(results) for experiment, results in done}
    every = [claim for rows in claims.values() for claim in rows]
    footnotes = Footnotes()
    parts = [
        HEAD,
        f"Scale `{scale}`: {SCALES[scale]}.\n",
        "## Main results\n",
        main_table(every, footnotes) + "\n",
        *(_section(each, claims[each.name], footnotes) for each, _ in done),
        _verdicts(
            {
                each.name: verdicts(claims[each.name], each.statements(results))
                for each, results in done
            }
            | {"main-results": verdicts([], comparisons(every))}
        ),
        _without_results([experiment for experiment, results in found if not results]),
        footnotes.text(),
    ]
    write_text(folder / "README.md", "\n".join(parts) + "\n")


def _section(experiment: Experiment, claims: list[Claim], footnotes: Footnotes) -> str:
    """Heading, figure and table of one experiment."""
    name = experiment.name
    place = f" ({experiment.paper} of the paper)" if experiment.paper else ""
    return "\n\n".join(
        (
            f"## {name}",
            f"{experiment.title}{place}. `vpr reproduce {name}`",
            f"![{experiment.title}]({name}/{name}.png)",
            claims_table(claims, footnotes) + "\n",
        )
    )


def _verdicts(by_section: dict[str, list[Verdict]]) -> str:
    """Three lists: confirmed, exceeded, not confirmed."""
    lists = [_list(kind, by_section) for kind in get_args(Kind)]
    return "\n".join(["## Claims of the paper\n", RULE, *lists])


def _list(kind: Kind, by_section: dict[str, list[Verdict]]) -> str:
    lines = [
        f"- {each.text}: {each.reason} ([{section}](#{section}))"
        for section, found in by_section.items()
        for each in found
        if each.kind == kind
    ]
    return "\n".join([f"### {kind.capitalize()}\n", *(lines or ["None."]), ""])


def _without_results(experiments: list[Experiment]) -> str:
    names = ", ".join(f"`{each.name}`" for each in experiments)
    return f"No results yet: {names}.\n" if names else ""
