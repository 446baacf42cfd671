"""Every campaign at a hundredth of its size."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.campaigns import checkpoints, disk, footage, kills, pairs, streaming, writers
from tests.campaigns.campaign import Failure, Result, command, inside, run_cases
from vpr.errors import VPRError

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
CAMPAIGNS = {
    checkpoints: 100,
    footage: 50,
    streaming: 10_000,
    kills: 2,
    writers: 30,
    disk: 2,
    pairs: 2,
}


@pytest.mark.parametrize("campaign", CAMPAIGNS, ids=lambda module: module.__name__.split(".")[-1])
def test_campaign(campaign: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count, out = CAMPAIGNS[campaign], tmp_path / "result.json"
    status = campaign.main(["--count", str(count), "--seed", "0", "--out", str(out)])
    result = json.loads(out.read_text())
    assert (status, result["failures"]) == (0, [])
    assert result["count"] == count
    assert sum(result["outcomes"].values()) > 0
    assert f"{count} cases, 0 failures" in capsys.readouterr().out


def _case(number: int, rng: np.random.Generator, folder: Path) -> str:
    if number == 1:
        raise VPRError("one line")
    if number == 2:
        raise VPRError("two\nlines")
    if number == 3:
        raise TypeError
    if number == 4:
        import os

        os.abort()
    if number == 5:
        (folder / "stranger").write_text("x")
        inside(folder, {"out"})
    if number == 6:
        import signal

        signal.alarm(1)
        while True:
            pass
    return "fine"


def test_everything_that_must_not_happen_is_noticed() -> None:
    result = run_cases(8, 0, _case)
    assert result.outcomes == {"fine": 2, "refused": 1, "failed": 5}
    reasons = " ".join(result.failures)
    for words in ("several lines", "TypeError", "ended with -6", "outside the output", "hung"):
        assert words in reasons


def test_failures_are_the_exit_status(tmp_path: Path) -> None:
    from collections import Counter

    def run(count: int, seed: int) -> Result:
        return Result(Counter(), ["lost"] if seed else [])

    words = ["--out", str(tmp_path / "a.json"), "--seed"]
    assert [command("x", 1, run, [*words, seed]) for seed in ("0", "1")] == [0, 1]
    assert issubclass(Failure, Exception)
