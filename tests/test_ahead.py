"""Looking ahead tells what going frame by frame tells; see also tests/segmenting/test_eye.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from vpr.ahead import AHEAD, Ahead, Recent
from vpr.boundaries import Sight
from vpr.events import Subjective, Window
from vpr.live import Live
from vpr.model import VPR, LazyEncodings

Factory = Callable[..., Any]


@pytest.mark.parametrize("size", [1, 4, 30])
@pytest.mark.parametrize("usual", [0.7, float("nan")])
@pytest.mark.parametrize("power", [1.0, 0.5])
def test_what_is_usual_later_on(size: int, usual: float, power: float) -> None:
    """Some values are pushed, some were only thought of."""
    window = Window.filled(1, size, torch.tensor(usual, dtype=torch.float64))
    row, recent = torch.zeros(1, dtype=torch.long), Recent(window, power)
    values = torch.randn(60, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).exp()
    done = 0
    for count in (1, 3, 7, 2, 7, 7, 7):
        means = recent.means(values[done : done + 7])
        for mean, value in zip(means[:count], values[done:], strict=False):
            torch.testing.assert_close(mean, window.mean(power)[0])
            window = window.push(value.unsqueeze(0), row)
        recent.push(count)
        done += count


def test_a_window_that_was_filled_before() -> None:
    row = torch.zeros(1, dtype=torch.long)
    for pushed in (2, 5, 8):
        window = Window.filled(1, 5, torch.tensor(torch.nan))
        for value in range(pushed):
            window = window.push(torch.tensor([float(value)]), row)
        recent = Recent(window, 1.0)
        torch.testing.assert_close(recent.means(torch.tensor([9.0])), window.mean())
        recent.push(1)
        wanted = window.push(torch.tensor([9.0]), row).mean()
        torch.testing.assert_close(recent.means(torch.tensor([1.0])), wanted)


@pytest.mark.parametrize("gamma", [0.3, 1.1, 1e9])
@pytest.mark.parametrize("chunk", [1, AHEAD, AHEAD + 1, 40])
def test_equals_frame_by_frame(tiny_model: Factory, gamma: float, chunk: int) -> None:
    """Whether level 2 updates at nearly every frame, now and then, or hardly ever."""
    model: VPR = tiny_model(4, seed=12, window=5)
    model.usual.fill_(0.5)
    model.rule = Subjective(gamma=gamma, window=5, expected=gamma < 1e9)
    x0 = 2 * torch.randn(40, model.config.width, generator=torch.Generator().manual_seed(1)).to(
        model.usual
    )
    with torch.inference_mode():
        ahead, live = Ahead(model), Live(model, model.initial(1), lowest=2)
        told = [seen for part in x0.split(chunk) for seen in ahead.look(part)]
        updates = 0
        for mine, x in zip(told, x0.split(1), strict=True):
            wanted = [Sight.each(each)[0] for each in live.advance(LazyEncodings(live.nets, [x]))]
            assert len(mine) == len(wanted)
            for one, other in zip(mine, wanted, strict=True):
                assert one[3:] == other[3:]
                assert one[:3] == pytest.approx(other[:3], rel=1e-9, nan_ok=True)
            updates += len(mine) > 1 and mine[1].boundary
    assert ahead.time == live.time == 40
    assert updates == 0 if gamma == 1e9 else updates > 3
