"""`vpr push RUN OWNER/NAME`: publish a trained model on the Hugging Face Hub."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vpr.cli.model_and_data import prepare
from vpr.cli.options import add_number
from vpr.cli.show import print_json, print_line, print_message, progress_bar
from vpr.errors import VPRError

CARD_METRICS = ("elbo", "reconstruction", "f1", "update_rate")
DESCRIPTION = """\
Upload weights and configuration of a run folder, and a model card with data, recipe, metrics and
licence. The metrics are computed as by vpr evaluate, on data that was not used for training. Log in
with `hf auth login` first, or set HF_TOKEN.
"""


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.description = DESCRIPTION
    parser.add_argument("run", metavar="RUN", type=Path, help="Run folder.")
    parser.add_argument(
        "repository",
        metavar="OWNER/NAME",
        help="Repository on the hub; created if it does not exist.",
    )
    parser.add_argument("--private", action="store_true", help="Make a private repository.")
    parser.add_argument(
        "--licence", default="mit", help="Identifier of the weights' licence on the hub. [mit]"
    )
    add_number(
        parser, "--sequences", 64, "Sequences for the metrics of the card; 0 for no metrics."
    )


def run(arguments: argparse.Namespace) -> int:
    from vpr.pretrained.hub import check_repository, push_to_hub

    check_repository(arguments.repository)
    metrics = _metrics(arguments) if arguments.sequences > 0 else {}
    published = push_to_hub(
        arguments.run,
        arguments.repository,
        metrics,
        licence=arguments.licence,
        private=arguments.private,
    )
    if arguments.json:
        print_json(published._asdict() | {"pinned": published.pinned, "metrics": metrics})
    else:
        print_line(published.url)
        print_message(f"Load exactly these weights with {published.pinned}")
    return 0


def _metrics(arguments: argparse.Namespace) -> dict[str, float]:
    """The evaluation of the model on its own data, in a flat form."""
    from vpr.evaluation import evaluate
    from vpr.pretrained import load_model
    from vpr.training.checkpoint import RunFolder

    config = RunFolder(arguments.run).config()
    prepare(config.data)
    try:
        with progress_bar(arguments.sequences) as advance:
            result = evaluate(
                load_model(arguments.run),
                config.data,
                sequences=arguments.sequences,
                length=config.training.length,
                on_progress=lambda done: advance(done, "sequences for the card"),
            )
    except VPRError as error:  # for example, footage that is not on this machine
        print_message(f"The card has no metrics: {error}")
        return {}
    return _flat(result)


def _flat(result: dict[str, Any], prefix: str = "") -> dict[str, float]:
    """Those numbers of nested results that the card has, by the path to them."""
    numbers: dict[str, float] = {}
    for key, value in result.items():
        if isinstance(value, dict):
            numbers |= _flat(value, f"{prefix}{key} ")
        elif key in CARD_METRICS:
            numbers[f"{prefix}{key}"] = float(value)
    return numbers
