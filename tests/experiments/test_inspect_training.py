"""Inspection of models during training."""

import json
from collections.abc import Callable

import torch
from torch import Tensor

from tests.conftest import short
from vpr.beliefs import cross_entropy
from vpr.data import BouncingBalls, MovingBall, Video, evaluation_rng
from vpr.events import Subjective
from vpr.experiments.runner.inspect_training import (
    LENGTH,
    SEED,
    SEQUENCES,
    inspect_model,
    observe_with_entropies,
)
from vpr.model import VPR


def test_observe_with_entropies_equals_observe(
    tiny_model: Callable[..., VPR], scenes: Callable[..., Tensor]
) -> None:
    model, video = tiny_model(levels=3), scenes()
    for inspected, level in zip(
        observe_with_entropies(model, video), model.observe(video).levels[1:], strict=True
    ):
        assert torch.equal(inspected.evidence.boundary, level.evidence.boundary)
        for ours, theirs in zip(inspected.evidence, level.evidence, strict=True):
            torch.testing.assert_close(ours, theirs, equal_nan=True)


def test_divergences_are_differences_of_cross_entropies_and_entropies(
    tiny_model: Callable[..., VPR], scenes: Callable[..., Tensor]
) -> None:
    """D_ch − D_st = (H(q_ch, p_ch) − H(q_st, p_st)) − (H(q_ch) − H(q_st))."""
    model, video = tiny_model(), scenes()
    state, x = model.initial(len(video)), model.encodings(video)
    inspected = observe_with_entropies(model, video)[0]
    with torch.no_grad():
        for t in range(video.shape[1]):
            q, p = model.blocks[1].hypotheses(state.blocks[1], x[1][:, t])
            state, (_, evidence) = model.step(state, video[:, t])
            entropy, cross = q.entropy().diff(dim=1)[:, 0], cross_entropy(q, p).diff(dim=1)[:, 0]
            if t > 0:
                torch.testing.assert_close(evidence.kl_change - evidence.kl_static, cross - entropy)
                torch.testing.assert_close(inspected.entropy_gap[:, t], entropy.abs())
                torch.testing.assert_close(inspected.cross_entropy_gap[:, t], cross.abs())


def test_gaps_are_nan_where_the_level_below_did_not_update(
    tiny_model: Callable[..., VPR], scenes: Callable[..., Tensor]
) -> None:
    below, above = observe_with_entropies(tiny_model(levels=3), scenes())
    stopped = ~below.evidence.boundary
    assert stopped.any()
    assert above.entropy_gap[stopped].isnan().all()
    assert below.cross_entropy_gap[:, 1:].isfinite().all()


def test_an_inspection_is_json_and_keeps_the_rule(tiny_model: Callable[..., VPR]) -> None:
    model = tiny_model(frame=(3, 16, 16))
    before = model.rule
    levels = inspect_model(model, Subjective(expected=False), MovingBall(size=16))
    assert model.rule is before
    level = json.loads(json.dumps(levels, allow_nan=False))["2"]
    assert {"f1", "f1_expected", "f1_unexpected", "update_rate"} <= level.keys()
    length = {len(values) for values in level["sequence"].values()}
    assert length == {49}


def test_data_without_labels_has_no_scores(tiny_model: Callable[..., VPR]) -> None:
    model = tiny_model(levels=3, frame=(3, 16, 16))
    data = short(Video(size=(16, 16), held_out=0.3))
    levels = json.loads(json.dumps(inspect_model(model, model.rule, data), allow_nan=False))
    assert levels.keys() == {"2", "3"}
    for level in levels.values():
        assert {"update_rate", "expected_share", "entropy_gap"} <= level.keys()
        assert not any(name.startswith(("f1", "recall", "fpr")) for name in level)
        assert level["sequence"].keys() == {"kl_static", "kl_change", "threshold", "boundary"}


def test_criteria_are_scored_also_if_they_are_not_used(tiny_model: Callable[..., VPR]) -> None:
    model, data = tiny_model(frame=(3, 16, 16)), MovingBall(size=16)
    alone = inspect_model(model, Subjective(expected=False), data)["2"]
    assert alone["f1"] == alone["f1_unexpected"]
    neither = inspect_model(model, Subjective(expected=False, unexpected=False), data)["2"]
    assert neither["f1"] == neither["update_rate"] == 0
    assert neither["f1_expected"] > 0


def test_each_level_is_scored_against_its_factor(tiny_model: Callable[..., VPR]) -> None:
    model, data = tiny_model(levels=3, frame=(3, 16, 16)), BouncingBalls(size=16)
    levels = inspect_model(model, model.rule, data)
    batch = data.batch(SEQUENCES, LENGTH, evaluation_rng(SEED))
    for level, factor in (("2", "colour"), ("3", "colour-1")):
        assert levels[level]["sequence"]["true"] == batch.changes[factor][0, 1:].tolist()
