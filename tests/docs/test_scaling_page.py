"""The numbers of docs/how-to/scaling.md follow from results/bench/scaling.json."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "scaling.md").read_text()
RESULT = json.loads((ROOT / "results" / "bench" / "scaling.json").read_text())
COSTS = RESULT["costs"]
ALONE = RESULT["checks"][0]
FRAME = sum(ALONE["cpu_s"]) / RESULT["frames"]  # CPU seconds, measured
HOUR = 3600 * 25 * FRAME  # CPU seconds of an hour of video
RATE = ALONE["events"][0] / RESULT["frames"]


def rows() -> list[str]:
    costs = {
        "decode and scale a frame": COSTS["decoding"],
        "image encoder, per frame": COSTS["encoding"],
        "comparison of level 2, per frame": COSTS["comparison"],
        "record evidence and thumbnails, per frame": COSTS["recording"],
        "an event of level 2": COSTS["events"][0],
    }
    found = [f"| {what} | {1e3 * seconds:.3f} |" for what, seconds in costs.items()]
    for check in RESULT["checks"]:
        each = sum(check["cpu_s"]) / check["processes"]
        ratio = check["measured_over_predicted"]
        found.append(f"| {check['processes']} | {each:.3f} | {ratio:.2f} |")
    for what, cores in {"one core": 1, "one node, 64 cores": 64, "64 nodes": 64 * 64}.items():
        days = 1e6 * HOUR / cores / 86400
        found.append(f"| {what} | {3600 / HOUR * cores:,.0f} | {days:,.1f} |")
    return found


@pytest.mark.parametrize("row", rows())
def test_rows(row: str) -> None:
    assert row in PAGE


def test_sentences() -> None:
    model = COSTS["encoding"] + COSTS["comparison"] + RATE * COSTS["events"][0]
    hours = 1e6 * HOUR / 64**2 / 3600
    for words in (
        f"{COSTS['decoding'] / FRAME:.0%} of the time is decoding",
        f"{model / FRAME:.0%} is the model",
        f"{RATE:.2f} events per frame",
        f"{HOUR:.0f} CPU seconds per hour of video",
        f"in {hours:.1f} hours",
        f"{1e6 * 0.9 / (hours * 3600):.0f} GB per second",
        f"load average was {RESULT['load']:.1f}",
    ):
        assert words.replace("%", " %") in PAGE, words
