"""The shipped models do what the README says."""

from pathlib import Path

import pytest

from vpr import VPR, evaluate
from vpr.evaluation import evaluate_imagination
from vpr.pretrained import data_for, load_durations, shipped_models


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


def test_3dsd_finds_the_changes_of_wall_and_object() -> None:
    model = VPR.from_pretrained("3dsd")
    report = evaluate(model, data_for("3dsd"), sequences=32, length=50, seed=11)
    assert report["levels"]["2"]["wall"]["f1"] > 0.95
    assert report["levels"]["3"]["object"]["f1"] > 0.9
    assert report["controls"]["3"]["random"]["object"]["f1"] < 0.3


def test_moving_ball_imagines_events_as_long_as_real_ones() -> None:
    model = VPR.from_pretrained("moving-ball")
    durations = load_durations("moving-ball", model)
    data = data_for("moving-ball")
    report = evaluate_imagination(model, durations, data, sequences=64, frames=100, seed=11)
    two = report["levels"]["2"]
    assert two["calibration"]["error"] < 0.05
    assert two["calibration"]["skill"] > 0.3
    imagined, true = (two["lengths"][name]["mean"] for name in ("imagined", "true"))
    assert imagined == pytest.approx(true, rel=0.1)
