"""`evaluate` reports the events and losses of the model."""

import numpy as np
import pytest
import torch

from tests.conftest import tiny_run
from vpr import VPR, VPRError, evaluate
from vpr.data import MovingBall, evaluation_rng
from vpr.evaluation import score


@pytest.fixture(scope="module")
def model() -> VPR:
    torch.manual_seed(0)
    return VPR(tiny_run(1, levels=3).model)


def test_report_has_every_level_and_factor(model: VPR) -> None:
    report = evaluate(model, MovingBall(size=16), sequences=5, length=12)
    assert list(report["levels"]) == ["1", "2", "3"]
    for level in report["levels"].values():
        assert {"position", "colour", "update_rate", "expected_share"} <= level.keys()
        assert set(level["colour"]) == {"precision", "recall", "f1", "fpr", "f1_near"}
    assert set(report["controls"]["2"]) == {"periodic", "random"}
    assert report["levels"]["1"]["update_rate"] == 1
    assert report["levels"]["1"]["position"]["f1"] == 1
    assert report["elbo"] == pytest.approx(-(report["reconstruction"] + sum(report["kl"])))


def test_scores_are_those_of_the_trace(model: VPR) -> None:
    data = MovingBall(size=16)
    report = evaluate(model, data, sequences=40, length=10, seed=3)  # more than one chunk
    batch = data.batch(40, 10, evaluation_rng(3))
    with torch.no_grad():
        trace = model.observe(torch.from_numpy(batch.frames))
    for n, level in enumerate(trace.levels, start=1):
        marks = level.evidence.boundary.numpy()
        expected = score(marks, batch.changes["colour"])._asdict()
        assert report["levels"][str(n)]["colour"] == pytest.approx(expected)
        assert report["levels"][str(n)]["update_rate"] == pytest.approx(
            float(np.mean(marks[:, 1:]))
        )


def test_same_seed_same_report(model: VPR) -> None:
    reports = [evaluate(model, MovingBall(size=16), sequences=3, length=6) for _ in range(2)]
    assert reports[0] == reports[1]


def test_data_of_another_shape_raises(model: VPR) -> None:
    with pytest.raises(VPRError, match="the model needs frames of"):
        evaluate(model, MovingBall(size=32), sequences=1, length=5)


def test_too_little_data_raises(model: VPR) -> None:
    with pytest.raises(VPRError, match="2 or more frames"):
        evaluate(model, MovingBall(size=16), sequences=1, length=1)
