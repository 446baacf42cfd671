"""A stream is the model, one frame at a time."""

import pickle

import pytest
import torch

from tests.conftest import tiny_run
from vpr import VPR, Stream, VPRError
from vpr.data import MovingBall, evaluation_rng
from vpr.pages.sequence_data import boundaries_of
from vpr.utils.tree import tree_map


@pytest.fixture(scope="module")
def model() -> VPR:
    torch.manual_seed(0)
    model = VPR(tiny_run(1, levels=3).model)
    model.typical_kl.fill_(1e-3)
    return model


@pytest.fixture(scope="module")
def video() -> torch.Tensor:
    return torch.from_numpy(MovingBall(size=16).batch(1, 40, evaluation_rng(0)).frames[0])


def test_stream_equals_batch(model: VPR, video: torch.Tensor) -> None:
    stream = Stream(model)
    live = [event for frame in video for event in stream.push(frame)]
    with torch.no_grad():
        trace = model.observe(video[None])
    batch = boundaries_of(trace, 0)
    assert [event[:3] for event in live] == [event[:3] for event in batch]
    assert any(event.level == 3 for event in live)
    for one, other in zip(live, batch, strict=True):
        assert one[3:] == pytest.approx(other[3:], rel=1e-3, nan_ok=True)


def test_the_evidence_of_the_last_frame(model: VPR, video: torch.Tensor) -> None:
    stream = Stream(model)
    assert stream.evidence == []
    with torch.no_grad():
        trace = model.observe(video[None])
    for t, frame in enumerate(video):
        events = stream.push(frame)
        assert len(stream.evidence) == (min(len(events) + 2, 3) if t else 1)
        for level, seen in enumerate(stream.evidence[1:], start=1):
            batch = trace.levels[level].evidence
            assert float(seen.kl_static) == pytest.approx(float(batch.kl_static[0, t]), rel=1e-3)
            assert bool(seen.boundary) == bool(batch.boundary[0, t])


def test_a_kept_state_goes_on(model: VPR, video: torch.Tensor) -> None:
    whole, first = Stream(model), Stream(model)
    events = [event for frame in video for event in whole.push(frame)]
    early = [event for frame in video[:15] for event in first.push(frame)]
    second = Stream(model, first.state)
    late = [event for frame in video[15:] for event in second.push(frame)]
    assert early + late == events


def test_bad_frames_are_refused_and_leave_the_stream_as_it_was(
    model: VPR, video: torch.Tensor
) -> None:
    stream = Stream(model)
    stream.push(video[0])
    before = stream.state
    for bad in (video[1] * 255, video[1] * torch.nan, video[1][:1], video[1].byte()):
        with pytest.raises(VPRError):
            stream.push(bad)
    same = tree_map(lambda a, b: torch.tensor(torch.equal(a, b)), stream.state, before)
    assert "False" not in repr(same)


def test_a_state_of_several_sequences_is_refused(model: VPR) -> None:
    with pytest.raises(VPRError, match="processes one video"):
        Stream(model, model.initial(2))


def test_a_state_is_good_for_learning(model: VPR, video: torch.Tensor) -> None:
    """The stream runs in inference mode, but returns ordinary tensors."""
    stream = Stream(model)
    for frame in video[:5]:
        stream.push(frame)
    loss = model.loss(video[None, 5:9], stream.state).total
    loss.backward()
    assert torch.isfinite(loss)
    model.zero_grad()


def test_a_stream_can_be_sent_elsewhere(model: VPR, video: torch.Tensor) -> None:
    here = Stream(model)
    here.push(video[0])
    there = pickle.loads(pickle.dumps(here))
    assert [here.push(frame) for frame in video[1:9]] == [there.push(f) for f in video[1:9]]
