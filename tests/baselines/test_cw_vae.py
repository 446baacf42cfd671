"""CW-VAE: levels update at their own intervals only."""

import torch

from tests.baselines.made import model, noise, video
from vpr.baselines import CWVAE
from vpr.baselines.cw_vae import CWVAEState

INTERVALS = (1, 2, 6)


def net() -> CWVAE:
    made = model("cw-vae")
    assert isinstance(made, CWVAE)
    return made


def test_levels_update_at_multiples_of_their_interval_only() -> None:
    trace = net().observe(video(), noise=noise(net()))
    for level, interval in zip(trace.levels, INTERVALS, strict=True):
        due = torch.arange(13) % interval == 0
        assert torch.equal(level.evidence.boundary, due.expand(3, -1))
        moved = (level.s[:, 1:] != level.s[:, :-1]).any(-1)
        assert torch.equal(moved, due[1:].expand(3, -1))
        assert ((level.kl > 0) == due).all()


def test_a_state_sees_the_frames_until_the_next_update_and_before() -> None:
    made, frames = net().eval(), video()
    other = frames.clone()
    other[:, 7] = 1 - other[:, 7]
    a, b = made.observe(frames), made.observe(other)
    first = [
        int((x.s != y.s).any(-1)[0].nonzero()[0]) for x, y in zip(a.levels, b.levels, strict=True)
    ]
    # Level 3 has seen frame 7 since its update at 6, level 2 as well; both are contexts of level 1.
    assert first == [6, 6, 6]
    assert torch.equal(a.c0[:, :6], b.c0[:, :6])


def test_encodings_are_sums_over_the_frames_of_an_update() -> None:
    made = net()
    x = torch.randn(2, 7, 15, dtype=torch.float64)
    level = made.levels()[1]
    assert level.f_enc is not None
    of_frames = level.f_enc(x)
    wanted = torch.stack([of_frames[:, k : k + 2].sum(1) for k in (0, 2, 4)], 1)
    found = level.encode(x)
    assert found.shape == (2, 4, 15)
    torch.testing.assert_close(found[:, :3], wanted)
    assert torch.equal(made.levels()[0].encode(x), x)


def test_the_level_above_is_the_context() -> None:
    """Without input from the top level, the levels below it would not depend on its noise."""
    made, frames, eps = net(), video(), noise(net())
    other = eps.clone()
    other[6, 2] += 1  # the second update of level 3
    a, b = made.observe(frames, noise=eps).c0, made.observe(frames, noise=other).c0
    assert torch.equal(a[:, :6], b[:, :6])
    assert not torch.isclose(a[:, 6], b[:, 6]).all(-1).any()


def test_rollouts_go_on_with_the_clock() -> None:
    made = net().eval()
    trace = made.observe(video())  # 13 frames: the next ticks are at 14 and 18
    state = trace.state
    assert isinstance(state, CWVAEState)
    assert state.time == 13
    frames = made.rollout(state, 1, 6)
    assert frames.boundary[0, :, 1].tolist() == [False, True, False, True, False, True]
    assert frames.boundary[0, :, 2].tolist() == [False] * 5 + [True]
    assert frames.state.time == 19  # type: ignore[attr-defined]
    every_second = made.rollout(state, 2, 3)
    torch.testing.assert_close(every_second.frames, frames.frames[:, 1::2])
    sixth = made.rollout(state, 3, 1)
    torch.testing.assert_close(sixth.frames[:, 0], frames.frames[:, 5])


def test_held_levels_do_not_change_in_a_rollout() -> None:
    made = net().eval()
    state = made.observe(video()).state
    after = made.rollout(state, 1, 1).state
    assert torch.equal(after.s[1], state.s[1])  # type: ignore[attr-defined]
    assert torch.equal(after.d[2], state.d[2])  # type: ignore[attr-defined]
    assert not torch.equal(after.s[0], state.s[0])  # type: ignore[attr-defined]
