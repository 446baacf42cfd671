"""`vpr reproduce NAME`: the paper's figures and tables, run, drawn and tabulated."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vpr.cli.main import Command
from vpr.cli.show import print_json, print_table, progress_bars, tell
from vpr.errors import VPRError

DESCRIPTION = """\
Run what is missing of an experiment, write one JSON file a run, the figure as PNG and SVG and a
summary into results/NAME, and bring the table in results/README.md up to date. Finished runs are
kept. Ctrl-C stops after saving; the same command goes on.
"""


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    from vpr.experiments.runner.base import SCALES

    parser.description = DESCRIPTION
    parser.usage = (
        "vpr reproduce NAME [--seeds N] [--only VARIANT…] [--scale {cpu,paper,tiny}] [--jobs N] "
        "| --list"
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="Which experiment; see --list.")
    parser.add_argument("--list", action="store_true", help="What exists, takes and is done.")
    parser.add_argument(
        "--seeds", type=int, help="Seeds 0, 1, … so many. [5; nested-worlds 1, ablation 3]"
    )
    parser.add_argument(
        "--only", metavar="VARIANT", nargs="+", default=[], help="Run no other variants. [all]"
    )
    scales = "; ".join(f"{name}: {what}" for name, what in SCALES.items())
    parser.add_argument("--scale", choices=SCALES, default="cpu", help=f"{scales}. [cpu]")
    parser.add_argument("--jobs", type=int, default=2, help="Runs at a time, a core each. [2]")
    results, runs = Path("results"), Path("runs") / "reproduce"
    parser.add_argument(
        "--out", type=Path, default=results, help=f"Folder for results. [{results}]"
    )
    parser.add_argument("--runs", type=Path, default=runs, help=f"Run folders. [{runs}]")


def run(arguments: argparse.Namespace) -> int:
    if arguments.list:
        return _list(arguments)
    if arguments.name is None:
        raise VPRError("name an experiment; vpr reproduce --list tells which there are")
    from vpr.experiments import experiment
    from vpr.experiments.runner.reproduce import Request, missing, reproduce

    chosen = experiment(arguments.name)
    request = Request(
        chosen,
        _seeds(arguments, chosen),
        arguments.scale,
        arguments.jobs,
        arguments.out,
        arguments.runs,
        tuple(arguments.only),
    )
    todo = missing(request)
    tell(f"{chosen.title}: {len(todo)} runs to go, {chosen.cost}")
    with progress_bars([job.title for job in todo]) as advance:
        ending = reproduce(request, lambda now: advance(*now))
    for title, words in ending.failed.items():
        tell(f"{title} failed: {words}")
    _print(_standing(arguments, chosen), arguments.json)
    if ending.stopped:
        tell("Stopped; the same command goes on from here.")
        return 130
    return 1 if ending.failed else 0


def _seeds(arguments: argparse.Namespace, chosen: Any) -> int:
    """As many as were asked for, or as the experiment has."""
    return int(chosen.seeds if arguments.seeds is None else arguments.seeds)


def _standing(arguments: argparse.Namespace, chosen: Any) -> dict[str, Any]:
    """The experiment as its files tell it."""
    from vpr.experiments.runner.reproduce import summary
    from vpr.experiments.runner.store import load, results_folder

    folder = results_folder(arguments.out, arguments.scale)
    results = load(folder, chosen, arguments.scale)
    return summary(chosen, results) | {"folder": str(folder / chosen.name)}


def _print(standing: dict[str, Any], as_json: bool) -> None:
    if as_json:
        return print_json(standing)
    rows = [[c["what"], c["paper"], c["shown"], len(c["ours"])] for c in standing["claims"]]
    print_table(standing["title"], ["what", "paper", "ours", "runs"], rows)
    print(f"Files: {standing['folder']}")


def _list(arguments: argparse.Namespace) -> int:
    from vpr.experiments import EXPERIMENTS
    from vpr.experiments.runner.reproduce import Request, missing

    rows = []
    for each in EXPERIMENTS.values():
        seeds = _seeds(arguments, each)
        request = Request(each, seeds, arguments.scale, 1, arguments.out, arguments.runs)
        total = seeds * len(each.variants(arguments.scale))
        done = total - len(missing(request))
        rows.append(
            {"name": each.name, "what": each.title, "cost": each.cost, "runs": total, "done": done}
        )
    if arguments.json:
        print_json(rows)
    else:
        columns = ["name", "what", "cost", "runs", "done"]
        print_table(
            f"Experiments at scale {arguments.scale}", columns, [list(row.values()) for row in rows]
        )
    return 0


COMMAND = Command("Make the paper's figures and tables.", declare, run)
