"""`vpr evaluate-boundaries PREDICTED TRUTH`: score boundaries in files against labels."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vpr.cli.show import print_json, print_table, tell

DESCRIPTION = """\
Match predicted boundaries with true ones, one to one: as many as possible within the tolerance,
then with the smallest total distance. Tables need a column 'time' (seconds) or 'frame', and may
have 'level' and 'file'; output of vpr segment and vpr watch works. In folders, files of the same
name are compared, and all counts are summed.
"""

TOLERANCES = "0s,0.1s,0.2s,1s"


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.description = DESCRIPTION
    parser.add_argument(
        "predicted", metavar="PREDICTED", type=Path, help="CSV or JSON file, or folder."
    )
    parser.add_argument("truth", metavar="TRUTH", type=Path, help="CSV or JSON file, or folder.")
    parser.add_argument(
        "--tolerance",
        default=TOLERANCES,
        metavar="LIST",
        help=f"Comma-separated times (0.2s, 200ms) or frames (5f). [{TOLERANCES}]",
    )
    parser.add_argument("--level", type=int, metavar="N", help="Score only this level. [all]")


def run(arguments: argparse.Namespace) -> int:
    from vpr.evaluation.boundaries import evaluate_boundaries
    from vpr.evaluation.tolerance import parse_tolerances

    tolerances = parse_tolerances(arguments.tolerance)
    result = evaluate_boundaries(arguments.predicted, arguments.truth, tolerances, arguments.level)
    if arguments.json:
        print_json(result)
    else:
        _print(result)
    for line in result["missing"]:
        tell(f"Missing: {line}")
    for line in result["failed"]:
        tell(f"Not counted: {line}")
    return 1 if result["missing"] or result["failed"] else 0


def _print(result: dict[str, Any]) -> None:
    videos = result["videos"]
    print_table(
        f"Boundaries of {videos} video{'s' if videos != 1 else ''}, matched one to one",
        [
            "level",
            "within",
            "precision",
            "recall",
            "F1",
            "matched",
            "predicted",
            "true",
            "distance",
        ],
        [_cells(score) for score in result["scores"]],
    )


def _cells(score: dict[str, Any]) -> list[object]:
    unit = "f" if score["tolerance"].endswith("f") else "s"
    distance = score["mean_distance"]
    return [
        "all" if score["level"] is None else score["level"],
        *(score[key] for key in ("tolerance", "precision", "recall", "f1")),
        *(score[key] for key in ("matched", "predicted", "true")),
        "–" if distance is None else f"{distance:.3g} {unit}",
    ]
