"""Order and timing of imagined frames, for data with regular changes."""

import numpy as np
import torch

from tests.conftest import tiny_run
from vpr import VPR, imagine
from vpr.data import MovingBall, ThreeDShapesDynamic, evaluation_rng
from vpr.evaluation.factor_readers import BallReader
from vpr.evaluation.imagined_factors import future, in_event_order, read_imagined
from vpr.generation.durations import Durations
from vpr.generation.event_clock import EventClock


def test_future_equals_the_continuation_of_the_dataset() -> None:
    data = ThreeDShapesDynamic()
    seen, whole = (data.batch(6, length, evaluation_rng(2)) for length in (9, 40))
    for factor, period in (("floor", 1), ("wall", 4), ("object", 8)):
        true = whole.factors[factor]
        np.testing.assert_array_equal(true[:, :9], seen.factors[factor])
        found = future(seen.factors[factor], seen.changes[factor], period, 10, 31)
        np.testing.assert_array_equal(found, true[:, 9:])


def test_order_is_evaluated_at_events_only() -> None:
    boundary = np.array([[0, 1, 0, 0, 1], [1, 0, 1, 0, 0]], bool)
    decoded = np.array([[9, 4, 0, 0, 5], [8, 1, 1, 1, 1]])
    assert in_event_order(decoded, boundary, np.array([3, 8]), 10) == 0.5
    assert in_event_order(decoded, np.zeros_like(boundary), np.array([3, 8]), 10) == 0


def test_values_are_read_from_the_frames_of_imagine() -> None:
    torch.manual_seed(0)
    model = VPR(tiny_run(1, levels=3).model)
    durations = Durations(model.config)
    video = torch.from_numpy(MovingBall(size=16).batch(2, 6, evaluation_rng(0)).frames)
    with torch.no_grad():
        trace = model.observe(video)
    made = imagine(
        model,
        trace.state,
        150,
        durations=durations,
        clock=EventClock.of(trace),
        generator=torch.Generator().manual_seed(3),
    )
    seen = read_imagined(model, durations, BallReader(), video, 150, seed=3)
    np.testing.assert_array_equal(seen.boundary, made.boundary.numpy())
    wanted = BallReader()(made.frames)
    np.testing.assert_array_equal(seen.decoded["colour"], wanted["colour"])
    np.testing.assert_allclose(seen.decoded["position"], wanted["position"], atol=1e-3)
