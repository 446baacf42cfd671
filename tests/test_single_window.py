"""The window of one video has the same values and means as `Window`."""

import pytest
import torch

from vpr.events import Window
from vpr.stream import SingleWindow

VALUES = torch.rand(40, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("usual", [0.3, torch.nan])
@pytest.mark.parametrize("size", [1, 3, 7])
@pytest.mark.parametrize("chunk", [1, 2, 5, 8])
def test_equals_the_window(usual: float, size: int, chunk: int) -> None:
    plain = Window.filled(1, size, torch.tensor(usual))
    ours, row = SingleWindow(plain), torch.tensor([0])
    for values in VALUES.split(chunk):
        means = []
        for value in values:
            means.append(plain.mean())
            plain = plain.push(value[None], row)
        torch.testing.assert_close(ours.means(values), torch.cat(means))
        ours.push(values)
        assert torch.equal(ours.window().values, plain.values)
        assert torch.equal(ours.window().pushed, plain.pushed)


def test_is_a_copy() -> None:
    plain = Window.filled(1, 3, torch.tensor(0.5))
    ours = SingleWindow(plain)
    found = ours.window()
    ours.push(VALUES[:2])
    assert plain.values.tolist() == found.values.tolist() == [[0.5] * 3]
