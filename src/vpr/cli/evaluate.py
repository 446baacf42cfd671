"""`vpr evaluate RUN`: a model on fresh sequences, against their ground truth if there is any."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from vpr.cli.main import Command
from vpr.cli.show import prepare, print_json, print_table, progress_bar
from vpr.data import DATASETS


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.add_argument("model", metavar="RUN", help="A run folder, a shipped model or a hub id.")
    parser.add_argument("--data", help=f"Instead of the run's own: {', '.join(DATASETS)}.")
    parser.add_argument("--sequences", type=int, default=256, help="How many sequences. [256]")
    parser.add_argument("--length", type=int, default=50, help="Frames in each. [50]")
    parser.add_argument("--seed", type=int, default=0, help="Seed of the evaluation data. [0]")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads. [2]")


def run(arguments: argparse.Namespace) -> int:
    from vpr.evaluation import evaluate
    from vpr.pretrained import data_for, load_model
    from vpr.utils.threads import use_threads

    use_threads(arguments.threads)
    model = load_model(arguments.model)
    data = data_for(arguments.model, arguments.data)
    prepare(data)
    with progress_bar(arguments.sequences) as advance:
        result = evaluate(
            model,
            data,
            sequences=arguments.sequences,
            length=arguments.length,
            seed=arguments.seed,
            watch=lambda done: advance(done, "sequences"),
        )
    if arguments.json:
        print_json(result)
    else:
        _print(result)
    return 0


def _print(result: dict[str, Any]) -> None:
    if rows := _rows(result):
        columns = ["level", "factor", "precision", "recall", "F1", "FPR", "periodic", "random"]
        title = "Boundaries at the exact frame of a change, beside the F1 of two blind controls"
        print_table(title, columns, rows)
    print_table(
        f"ELBO {result['elbo']:.1f} nats a frame",
        ["level", "update rate", "CE held", "CU held", "both held", "KL"],
        [
            [
                level,
                *(scores[key] for key in SHARES),
                result["kl"][int(level) - 1],
            ]
            for level, scores in result["levels"].items()
        ],
    )


def _rows(result: dict[str, Any]) -> list[list[object]]:
    """Of each level and factor; none where nobody knows what changes."""
    # Level 1 updates at every frame: what it does not find never changes, and scores nothing.
    moving = [k for k, v in result["levels"]["1"].items() if isinstance(v, dict) and v["recall"]]
    rows: list[list[object]] = []
    for level, scores in result["levels"].items():
        for factor in moving:
            blind = [result["controls"][level][k][factor]["f1"] for k in ("periodic", "random")]
            rows.append([level, factor, *scores[factor].values(), *blind])
    return rows


SHARES = ("update_rate", "expected_share", "unexpected_share", "both_share")

COMMAND = Command("Score a model's boundaries against ground truth.", declare, run)
