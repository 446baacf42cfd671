"""`vpr evaluate-boundaries PREDICTED TRUTH`: score boundaries in files against labels."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vpr.cli.show import print_json, print_message, print_table
from vpr.errors import VPRError

DESCRIPTION = """\
Match predicted and true boundaries one to one: the largest number of pairs within the tolerance,
then the smallest total distance. Tables need a column 'time' (seconds) or 'frame', or 'start'
and 'end' (seconds), and may have 'level', 'file' and 'annotator'. Text files have a time per line,
or start and end. Files of ELAN (.eaf), JSON of Label Studio and the output of vpr segment and
vpr watch work too. In folders, files of the same name are compared, and all counts are summed.
With several annotators, their agreement with each other is printed as well.
"""

TOLERANCES = "0s,0.1s,0.2s,1s"


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.description = DESCRIPTION
    parser.add_argument(
        "predicted", metavar="PREDICTED", type=Path, help="File (.csv, .json, …) or folder."
    )
    parser.add_argument(
        "truth",
        metavar="TRUTH",
        type=Path,
        nargs="+",
        help="File (.csv, .json, .eaf, .txt) or folder with labels; one for each annotator.",
    )
    parser.add_argument(
        "--tolerance",
        default=TOLERANCES,
        metavar="LIST",
        help=f"Comma-separated times (0.2, 0.2s, 200ms) or frames (5f). [{TOLERANCES}]",
    )
    parser.add_argument("--level", type=int, metavar="N", help="Score only this level. [all]")
    parser.add_argument(
        "--annotator",
        action="append",
        default=[],
        metavar="NAME",
        help="Use only labels of this annotator or ELAN tier; can be repeated. [all]",
    )


def run(arguments: argparse.Namespace) -> int:
    from vpr.evaluation.boundary_file_scores import evaluate_boundaries
    from vpr.evaluation.tolerance import parse_tolerances

    for path in (arguments.predicted, *arguments.truth):
        if not path.exists():
            raise VPRError(f"{path} does not exist")
    tolerances = parse_tolerances(arguments.tolerance)
    truth = arguments.truth[0] if len(arguments.truth) == 1 else arguments.truth
    result = evaluate_boundaries(
        arguments.predicted, truth, tolerances, arguments.level, arguments.annotator
    )
    if arguments.json:
        print_json(result)
    else:
        _print(result)
    for line in result["missing"]:
        print_message(f"Missing: {line}")
    for line in result["failed"]:
        print_message(f"Not counted: {line}")
    return 1 if result["missing"] or result["failed"] else 0


def _print(result: dict[str, Any]) -> None:
    videos = result["videos"]
    print_table(
        f"Boundaries of {videos} video{'s' if videos != 1 else ''}, matched one to one",
        [
            "level",
            "within",
            "prec.",
            "recall",
            "F1",
            "pairs",
            "pred.",
            "true",
            "distance",
        ],
        [_cells(score) for score in result["scores"]],
    )
    if result["agreement"]:
        print_table(
            "F1 against each annotator, of the predictions and of the other annotators",
            ["annotator", "level", "within", "predictions", "other annotators"],
            [_agreement_cells(row) for row in result["agreement"]],
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


def _agreement_cells(row: dict[str, Any]) -> list[object]:
    level = "all" if row["level"] is None else row["level"]
    others = "–" if row["others"] is None else row["others"]
    return [row["annotator"], level, row["tolerance"], row["predicted"], others]
