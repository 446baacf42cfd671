"""The shipped model does what the README says."""

from pathlib import Path

import pytest

from vpr import VPR, evaluate
from vpr.checkpoint import data_for, shipped_models


@pytest.mark.parametrize("name", shipped_models())
def test_weights_are_small_enough_to_ship(name: str) -> None:
    import vpr

    folder = Path(vpr.__file__).parent / "pretrained" / name
    assert (folder / "model.safetensors").stat().st_size < 15e6


def test_moving_ball_finds_the_colour_changes() -> None:
    model = VPR.from_pretrained("moving-ball")
    report = evaluate(model, data_for("moving-ball"), sequences=32, length=50, seed=11)
    assert report["levels"]["2"]["colour"]["f1"] > 0.95
    assert report["controls"]["2"]["random"]["colour"]["f1"] < 0.3
