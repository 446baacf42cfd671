"""From frames to updates and back."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from vpr.state import UpdateIndex


@st.composite
def boundaries(draw: st.DrawFn) -> Tensor:  # (B, T)
    rows, length = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    row = st.lists(st.booleans(), min_size=length, max_size=length)
    return torch.tensor([draw(row) for _ in range(rows)])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(boundary=boundaries())
def test_each_frame_holds_its_last_update(boundary: Tensor) -> None:
    """Frames are numbered from 0; what was in force before the video is −1."""
    rows, length = boundary.shape
    index = UpdateIndex(boundary)
    numbers = torch.arange(length).expand(rows, length)
    picked = index.pick(numbers)
    if not index.starts_with_update:
        picked = torch.cat([torch.full((rows, 1), -1), picked], 1)
    wanted = []
    for row in boundary.tolist():
        last, held = -1, []
        for t, update in enumerate(row):
            last = t if update else last
            held.append(last)
        wanted.append(held)
    assert index.hold(picked).tolist() == wanted


@settings(max_examples=50, deadline=None, derandomize=True)
@given(boundary=boundaries())
def test_no_more_steps_than_updates(boundary: Tensor) -> None:
    most = int(boundary.sum(1).max())
    assert UpdateIndex(boundary).frames.shape == (len(boundary), max(most, 1))
    assert UpdateIndex(boundary).starts_with_update == all(row[0] for row in boundary.tolist())


def test_values_of_any_shape() -> None:
    index = UpdateIndex(torch.tensor([[True, False, True], [True, False, False]]))
    values = torch.arange(12.0).view(2, 3, 2)
    assert torch.equal(index.pick(values)[0], values[0, [0, 2]])
    assert torch.equal(index.hold(index.pick(values))[1], values[1, [0, 0, 0]])
