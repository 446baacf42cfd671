"""`vpr reproduce NAME`: reproduce figures and tables of the paper."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vpr.cli.options import add_executor, add_out_folder, chosen_executor
from vpr.cli.show import print_json, print_message, print_table, progress_bars
from vpr.errors import VPRError

DESCRIPTION = """\
Run the missing runs of an experiment. Writes one JSON file per run, the figure as PNG and SVG, and
a summary to results/NAME, and updates results/README.md. Ctrl-C saves and stops; the same command
resumes. Several commands, also on several machines, can share the folders: each run is claimed by
one of them.
"""


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    from vpr.experiments.runner.experiment import SCALES

    parser.description = DESCRIPTION
    parser.usage = (
        "vpr reproduce NAME [--seeds N] [--only VARIANT…] [--scale {cpu,paper,tiny}] "
        "[--on PLACE] [--jobs N] [--shard K/N] | --list | --check"
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="Experiment; see --list.")
    parser.add_argument(
        "--list", action="store_true", help="List experiments with their cost and finished runs."
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="List results whose configuration no longer matches a preset, and results that were "
        "made by other code.",
    )
    parser.add_argument(
        "--seeds", type=int, metavar="N", help="Seeds per variant. [5; nested-worlds 1, ablation 3]"
    )
    parser.add_argument(
        "--only", metavar="VARIANT", nargs="+", default=[], help="Run only these variants. [all]"
    )
    scales = "; ".join(f"{name}: {what}" for name, what in SCALES.items())
    parser.add_argument("--scale", choices=SCALES, default="cpu", help=f"{scales}. [cpu]")
    add_executor(parser, 2)
    results, runs = Path("results"), Path("runs") / "reproduce"
    add_out_folder(parser, results, "the results")
    parser.add_argument(
        "--runs",
        metavar="FOLDER",
        type=Path,
        default=runs,
        help=f"Folder for the run folders. [{runs}]",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.list:
        return _list(arguments)
    if arguments.check:
        return _check(arguments)
    if arguments.name is None:
        raise VPRError("name an experiment: see vpr reproduce --list")
    from vpr.experiments import experiment
    from vpr.experiments.runner.reproduce import Request, missing, reproduce

    chosen = experiment(arguments.name)
    executor = chosen_executor(arguments, arguments.runs, reuse=False)
    request = Request(
        chosen,
        _seeds(arguments, chosen),
        arguments.scale,
        arguments.out,
        arguments.runs,
        tuple(arguments.only),
        arguments.shard,
    )
    todo = missing(request)
    print_message(f"{chosen.title}: {len(todo)} runs to go, {chosen.cost}")
    with progress_bars([job.title for job in todo]) as advance:
        ending = reproduce(
            request, executor, lambda now: advance(now.task, now.done, now.total or 1, now.note)
        )
    for title in ending.elsewhere:
        print_message(f"{title} is being run by another process.")
    for title, words in ending.failed.items():
        print_message(f"{title} failed: {words}")
    _print(_results(arguments, chosen), arguments.json)
    if ending.stopped:
        print_message("Stopped; run the same command again to resume.")
        return 130
    return 1 if ending.failed else 0


def _seeds(arguments: argparse.Namespace, chosen: Any) -> int:
    """The option --seeds, or the default of the experiment."""
    return int(chosen.seeds if arguments.seeds is None else arguments.seeds)


def _results(arguments: argparse.Namespace, chosen: Any) -> dict[str, Any]:
    """The summary of the results on disk."""
    from vpr.experiments.runner.reproduce import summary
    from vpr.experiments.runner.store import load, results_folder

    folder = results_folder(arguments.out, arguments.scale)
    results = load(folder, chosen, arguments.scale)
    return summary(chosen, results) | {"folder": str(folder / chosen.name)}


def _print(results: dict[str, Any], as_json: bool) -> None:
    if as_json:
        return print_json(results)
    rows = [[c["what"], c["paper"], c["shown"], len(c["ours"])] for c in results["claims"]]
    print_table(results["title"], ["what", "paper", "ours", "runs"], rows)
    print(f"Files: {results['folder']}")


def _check(arguments: argparse.Namespace) -> int:
    """List stale results and results of other code; 1 if there are stale ones."""
    from vpr.experiments import EXPERIMENTS
    from vpr.experiments.runner.store import result_files, results_folder, stale, training_code
    from vpr.utils.code_digest import code_digest

    folder = results_folder(arguments.out, arguments.scale)
    outdated: dict[str, str] = {}
    other_code: list[str] = []
    unknown_code: list[str] = []
    for each in EXPERIMENTS.values():
        found = stale(folder, each, arguments.scale)
        outdated |= {str(path): why for path, why in found.items()}
        for path in result_files(folder, each):
            made_by = None if path in found else training_code(path)
            if path not in found and made_by != code_digest():
                (unknown_code if made_by is None else other_code).append(str(path))
    if arguments.json:
        print_json({"stale": outdated, "other_code": other_code, "unknown_code": unknown_code})
        return 1 if outdated else 0
    for stale_path, why in outdated.items():
        print(f"{stale_path}: {why}")
    for name in other_code:
        print(f"{name} was made by other code")
    print(
        f"{len(other_code)} results were made by other code; {len(unknown_code)} do not record it."
    )
    print(f"{len(outdated)} results do not match the current presets.")
    return 1 if outdated else 0


def _list(arguments: argparse.Namespace) -> int:
    from vpr.experiments import EXPERIMENTS
    from vpr.experiments.runner.reproduce import Request, missing

    if not arguments.out.is_dir():
        print_message(
            f"There is no folder {arguments.out.absolute()}: run this command in a clone of the "
            "repository, or give --out."
        )
    rows = []
    for each in EXPERIMENTS.values():
        seeds = _seeds(arguments, each)
        request = Request(each, seeds, arguments.scale, arguments.out, arguments.runs)
        total = seeds * len(each.variants(arguments.scale))
        done = total - len(missing(request))
        rows.append(
            {"name": each.name, "what": each.title, "cost": each.cost, "runs": total, "done": done}
        )
    if arguments.json:
        print_json(rows)
    else:
        cells = [
            [each["name"], f"{each['what']} ({each['cost']})", each["runs"], each["done"]]
            for each in rows
        ]
        columns = ["name", "what (cost)", "runs", "done"]
        print_table(f"Experiments at scale {arguments.scale}", columns, cells)
    return 0
