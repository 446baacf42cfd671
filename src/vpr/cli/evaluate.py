"""`vpr evaluate MODEL`: score the events in new sequences against ground truth."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from vpr.cli.options import add_data, add_model, add_sequences, add_threads
from vpr.cli.show import prepare, print_json, print_table, progress_bar


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    add_model(parser)
    add_data(parser)
    add_sequences(parser, sequences=256, seed=0)
    add_threads(parser, 2)


def run(arguments: argparse.Namespace) -> int:
    from vpr.evaluation import evaluate
    from vpr.pretrained import data_for, load_model
    from vpr.utils.threads import use_threads

    use_threads(arguments.threads)
    model = load_model(arguments.model)
    data = data_for(arguments.model, arguments.data, arguments.path)
    prepare(data)
    with progress_bar(arguments.sequences) as advance:
        result = evaluate(
            model,
            data,
            sequences=arguments.sequences,
            length=arguments.length,
            seed=arguments.seed,
            on_progress=lambda done: advance(done, "sequences"),
        )
    if arguments.json:
        print_json(result)
    else:
        _print(result)
    return 0


def _print(result: dict[str, Any]) -> None:
    if rows := _rows(result):
        columns = ["level", "factor", "precision", "recall", "F1", "FPR", "periodic", "random"]
        title = "Boundaries at the exact frame of a change, and F1 of periodic and random controls"
        print_table(title, columns, rows)
    print_table(
        f"ELBO {result['elbo']:.1f} nats per frame",
        ["level", "update rate", "share CE", "share CU", "share both", "KL"],
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
    """A row for each level and factor; none without labels."""
    # Level 1 updates at every frame; a factor that it does not find never changes.
    moving = [k for k, v in result["levels"]["1"].items() if isinstance(v, dict) and v["recall"]]
    rows: list[list[object]] = []
    for level, scores in result["levels"].items():
        for factor in moving:
            controls = [result["controls"][level][k][factor]["f1"] for k in ("periodic", "random")]
            rows.append([level, factor, *scores[factor].values(), *controls])
    return rows


SHARES = ("update_rate", "expected_share", "unexpected_share", "both_share")
