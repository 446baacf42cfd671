"""`evaluate_imagination` reports calibration and lengths of events."""

import numpy as np
import pytest
import torch

from tests.conftest import tiny_run
from vpr import VPR, VPRError
from vpr.data import Batch, MovingBall, evaluation_rng
from vpr.evaluation import evaluate_imagination, event_lengths
from vpr.events import Clockwork
from vpr.generation.durations import MAX_AGE, Durations
from vpr.generation.event_clock import HISTORY

BALL = MovingBall(size=16)


@pytest.fixture(scope="module")
def model() -> VPR:
    torch.manual_seed(0)
    return VPR(tiny_run(1, levels=3).model)


def test_report_has_every_level_above_the_first(model: VPR) -> None:
    sizes = {"sequences": 40, "length": 12, "frames": 20}  # more than one chunk
    report = evaluate_imagination(model, Durations(model.config), BALL, **sizes, seed=3)
    assert list(report["levels"]) == ["2", "3"]
    batch = BALL.batch(40, 12, evaluation_rng(3))
    with torch.no_grad():
        trace = model.observe(torch.from_numpy(batch.frames))
    below = 40 * 11
    for n, level in enumerate(report["levels"].values(), start=1):
        detected = trace.levels[n].evidence.boundary.numpy()
        assert sum(level["calibration"]["cases"]) == below
        assert level["lengths"]["detected"] == event_lengths(detected)._asdict()
        assert level["lengths"]["true"] == event_lengths(batch.changes["colour"])._asdict()
        assert level["distance"].keys() == {"detected", "true"}
        below = detected[:, 1:].sum()


def test_perfect_durations_have_skill_1(model: VPR) -> None:
    class Clock(Durations):
        """Knows that level 2 updates at every third frame."""

        def logit(self, n: int, x: torch.Tensor) -> torch.Tensor:
            clock = x[:, -2 * MAX_AGE - HISTORY - 1 : -HISTORY - 1]
            ticks = clock.argmax(-1) % MAX_AGE
            return torch.where(ticks == 2, 50.0, -50.0)

    model.rule = Clockwork((1, 3, 9))
    report = evaluate_imagination(
        model, Clock(model.config), BALL, sequences=4, length=20, frames=30
    )
    two, three = report["levels"]["2"], report["levels"]["3"]
    assert two["calibration"]["error"] == pytest.approx(0)
    assert two["calibration"]["skill"] == pytest.approx(1)
    assert two["lengths"]["imagined"]["mean"] == two["lengths"]["detected"]["mean"] == 3
    assert three["lengths"]["imagined"]["mean"] == three["lengths"]["detected"]["mean"] == 9
    assert two["distance"]["detected"] == three["distance"]["detected"] == 0


def test_data_without_labels_has_no_true_lengths(model: VPR) -> None:
    class Unlabelled(MovingBall):
        def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch:
            return Batch(super().batch(count, length, rng).frames, {}, {})

    data, durations = Unlabelled(size=16), Durations(model.config)
    report = evaluate_imagination(model, durations, data, sequences=3, length=8, frames=5)
    assert report["levels"]["2"]["lengths"].keys() == {"detected", "imagined"}


def test_errors_are_one_line(model: VPR) -> None:
    with pytest.raises(VPRError, match="the data has"):
        evaluate_imagination(model, Durations(model.config), MovingBall(size=32))
    with pytest.raises(VPRError, match="frames must be 1 or more, got 0"):
        evaluate_imagination(model, Durations(model.config), BALL, frames=0)
