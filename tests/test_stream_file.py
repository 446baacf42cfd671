"""The state of a stream in a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from vpr import VPR, Stream, VPRError
from vpr.stream_file import load_state, save_state
from vpr.utils.files import read_tensors, write_tensors


def test_a_stream_continues_from_a_file(
    tmp_path: Path, tiny_model: Callable[..., VPR], scenes: Callable[..., Tensor]
) -> None:
    model, video = tiny_model(levels=3), scenes(batch=1, length=20)[0]
    whole, first = Stream(model), Stream(model)
    expected = [whole.push(frame) for frame in video]
    found = [first.push(frame) for frame in video[:9]]
    save_state(tmp_path / "state", first.state, model)
    second = Stream(model, load_state(tmp_path / "state", model))
    found += [second.push(frame) for frame in video[9:]]
    assert found == expected
    save_state(tmp_path / "second", second.state, model)
    save_state(tmp_path / "whole", whole.state, model)
    (second_state, notes), (whole_state, whole_notes) = (
        read_tensors(tmp_path / name) for name in ("second", "whole")
    )
    assert notes == whole_notes
    assert second_state.keys() == whole_state.keys()
    assert all(torch.equal(second_state[name], whole_state[name]) for name in whole_state)


def test_a_state_before_the_first_frame(tmp_path: Path, tiny_model: Callable[..., VPR]) -> None:
    model = tiny_model()
    save_state(tmp_path / "state", Stream(model).state, model)
    assert int(load_state(tmp_path / "state", model).time) == 0


def test_a_state_of_other_weights_is_refused(
    tmp_path: Path, tiny_model: Callable[..., VPR]
) -> None:
    model = tiny_model()
    save_state(tmp_path / "state", Stream(model).state, model)
    with pytest.raises(VPRError, match="was saved with other weights"):
        load_state(tmp_path / "state", tiny_model(seed=1))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t[..., None],
        lambda t: t.float() * torch.nan,
        lambda t: t.to(torch.float16),
        lambda t: -1 - t.abs() if not t.is_floating_point() else t * torch.inf,
    ],
)
def test_damaged_states_are_one_line(
    tmp_path: Path, tiny_model: Callable[..., VPR], change: Callable[[Tensor], Tensor]
) -> None:
    model = tiny_model()
    save_state(tmp_path / "state", Stream(model).state, model)
    tensors, notes = read_tensors(tmp_path / "state")
    for name in (min(tensors), max(tensors)):  # floats, and the number of frames
        write_tensors(tmp_path / "bad", tensors | {name: change(tensors[name])}, notes)
        with pytest.raises(VPRError, match="is damaged"):
            load_state(tmp_path / "bad", model)
    write_tensors(tmp_path / "bad", {"x": torch.zeros(1)}, notes)
    with pytest.raises(VPRError, match="is not the state of a stream"):
        load_state(tmp_path / "bad", model)
