"""Chunks of frames give what a stream and the batched model give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests.segmenting.made import scenes
from vpr import VPR, Stream, VPRError
from vpr.events import Always, Clockwork, LevelEvidence, Rule, Subjective, boundaries
from vpr.segmenting.inputs import ModelInput
from vpr.segmenting.segment import Segmenter, with_threshold

Factory = Callable[..., Any]
VALUES = ("kl_static", "kl_change", "threshold")


def process(model: VPR, pictures: np.ndarray, chunk: int) -> list[list[LevelEvidence]]:
    segmenter = Segmenter(model)
    starts = range(0, len(pictures), chunk)
    return [
        evidence
        for start in starts
        for evidence in segmenter.process(list(pictures[start : start + chunk]))
    ]


@pytest.fixture
def model(tiny_model: Factory) -> VPR:
    model: VPR = tiny_model(4, seed=12, window=5, frame=(3, 16, 16))
    model.typical_kl.fill_(0.5)
    return model


@pytest.mark.parametrize(
    "rule",
    [Subjective(window=5), Subjective(expected=False, window=5), Clockwork((1, 2, 4, 8)), Always()],
)
@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_equals_the_stream(model: VPR, rule: Rule, chunk: int) -> None:
    model.rule = rule
    pictures = scenes(40)
    stream, evidence = Stream(model), process(model, pictures, chunk)
    found = 0
    for number, frame in enumerate(ModelInput(model)(list(pictures))):
        live = stream.push(frame)
        ours = list(boundaries(evidence[number], number)) if number else []
        assert [each[:3] for each in ours] == [each[:3] for each in live]
        for one, other in zip(ours, live, strict=True):
            np.testing.assert_allclose(one[3:], other[3:], rtol=1e-9)
        found += len(live)
    assert found > 5


def test_equals_observe(model: VPR) -> None:
    """The evidence of all frames, with NaN where a level was not evaluated."""
    pictures = scenes(40)
    evidence = process(model, pictures, 16)
    with torch.no_grad():
        trace = model.observe(ModelInput(model)(list(pictures)).unsqueeze(0))
    happened = set()
    for n in (1, 2, 3):
        wanted = trace.levels[n].evidence
        for t, seen in enumerate(evidence[1:], start=1):
            if n < len(seen):
                assert seen[n].boundary == bool(wanted.boundary[0, t])
                happened.add((n, seen[n].boundary))
                for name in VALUES:
                    mine, theirs = getattr(seen[n], name), float(getattr(wanted, name)[0, t])
                    assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-9)
            else:
                assert torch.isnan(wanted.kl_static[0, t])
    assert {(1, True), (1, False), (2, True), (2, False)} <= happened


def test_single_precision_finds_the_same_as_a_stream(tiny_model: Factory) -> None:
    model = tiny_model(3, seed=12, window=5, frame=(3, 16, 16), dtype=torch.float32)
    model.typical_kl.fill_(0.5)
    pictures = scenes(30)
    evidence, stream = process(model, pictures, 16), Stream(model)
    for number, frame in enumerate(ModelInput(model)(list(pictures))):
        live = stream.push(frame)
        ours = list(boundaries(evidence[number], number)) if number else []
        assert [each[:3] for each in ours] == [each[:3] for each in live]
        for one, other in zip(ours, live, strict=True):
            np.testing.assert_allclose(one[3:], other[3:], rtol=1e-3)


def test_grey_pictures(tiny_model: Factory) -> None:
    model = tiny_model(2, frame=(1, 16, 16))
    assert len(process(model, scenes(9)[..., :1], 4)) == 9


def test_another_threshold_leaves_the_model_alone(model: VPR) -> None:
    strict = with_threshold(model, 50.0)
    assert isinstance(strict.rule, Subjective)
    assert isinstance(model.rule, Subjective)
    assert (strict.rule.gamma, model.rule.gamma) == (50.0, 1.1)
    pictures = scenes(60)
    surprises = [
        sum(evidence[1].unexpected for evidence in process(each, pictures, 16) if len(evidence) > 1)
        for each in (model, strict)
    ]
    assert surprises[0] > surprises[1]


@pytest.mark.parametrize("rule", [Always(), Subjective(unexpected=False)])
def test_a_rule_without_a_threshold_raises(model: VPR, rule: Rule) -> None:
    model.rule = rule
    with pytest.raises(VPRError, match="no threshold to set"):
        with_threshold(model, 2.0)


def test_a_model_of_one_level_raises(tiny_model: Factory) -> None:
    with pytest.raises(VPRError, match="use one with 2 or more"):
        Segmenter(tiny_model(1))
