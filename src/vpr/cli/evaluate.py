"""`vpr evaluate MODEL`: score the events in new sequences against ground truth."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from vpr.cli.model_and_data import open_model_and_data, sequence_length
from vpr.cli.options import add_data, add_model, add_sequences, add_threads
from vpr.cli.show import print_json, print_table, progress_bar


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    add_model(parser)
    add_data(parser)
    add_sequences(parser, sequences=256, seed=0)
    add_threads(parser, 2)


def run(arguments: argparse.Namespace) -> int:
    from vpr.data import unseen
    from vpr.evaluation import evaluate
    from vpr.utils.threads import use_threads

    use_threads(arguments.threads)
    model, data = open_model_and_data(arguments, few=False)
    length = sequence_length(arguments, unseen(data))
    with progress_bar(arguments.sequences) as advance:
        result = evaluate(
            model,
            data,
            sequences=arguments.sequences,
            length=length,
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
        ["level", "update rate", "only CE", "only CU", "both", "KL"],
        [
            [level, scores["update_rate"], *_shares(scores), result["kl"][int(level) - 1]]
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
            ratios = (scores[factor][name] for name in ("precision", "recall", "f1", "fpr"))
            rows.append([level, factor, *ratios, *controls])
    return rows


def _shares(scores: dict[str, Any]) -> list[float]:
    """Shares of the boundaries that add up to at most 1, in the order of the table."""
    both = scores["both_share"]
    return [scores["expected_share"] - both, scores["unexpected_share"] - both, both]
