"""The README's claim, trained from scratch: slow, not part of the fast tests."""

from dataclasses import replace
from pathlib import Path

import pytest

from vpr import VPR, evaluate
from vpr.presets import preset
from vpr.training.checkpoint import RunFolder
from vpr.training.loop import train


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_moving_ball_learns_to_find_colour_changes(seed: int, tmp_path: Path) -> None:
    config = preset("cpu/moving-ball")
    config = replace(config, seed=seed)
    assert train(config, tmp_path).finished
    report = evaluate(VPR.from_pretrained(str(tmp_path)), RunFolder(tmp_path).config().data)
    assert report["levels"]["2"]["colour"]["f1"] >= 0.97
