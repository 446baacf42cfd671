"""What both baselines have in common: shapes, gradients, loss, rollouts."""

from dataclasses import replace

import pytest
import torch

from tests.baselines.made import CONFIGS, model, noise, video
from vpr import VPRError
from vpr.baselines import BASELINES, BaselineRun, baseline, make_baseline
from vpr.beliefs import kl
from vpr.data import Synthetic, training_rng
from vpr.presets import preset
from vpr.utils.config_json import from_dict, to_dict

KINDS = list(CONFIGS)


@pytest.mark.parametrize("kind", KINDS)
def test_observe_has_a_level_trace_of_every_frame(kind: str) -> None:
    net = model(kind).eval()
    trace = net.observe(video(2, 7))
    assert len(trace.levels) == net.config.levels
    for level in trace.levels:
        assert level.s.shape == level.q.mean.shape == level.p.std.shape == (2, 7, 3)
        assert level.kl.shape == level.evidence.boundary.shape == (2, 7)
        assert level.evidence.boundary.dtype == torch.bool
        assert level.evidence.boundary[:, 0].all()
        assert level.evidence.kl_static.isnan().all()
    assert trace.levels[0].evidence.boundary.all()
    assert net.reconstruct(trace.c0).shape == (2, 7, 3, 16, 16)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_reach_every_parameter(kind: str) -> None:
    net = model(kind)
    net.loss(video(), noise=noise(net)).total.backward()
    still = [name for name, w in net.named_parameters() if w.grad is None or not w.grad.any()]
    assert still == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_sum_of_its_terms(kind: str) -> None:
    net = model(kind).eval()
    frames, eps = video(), noise(net)
    loss = net.loss(frames, noise=eps, beta=0.5)
    trace = net.observe(frames, noise=eps)
    decoded = net.codec.to_frames(net.codec.decode(trace.c0.flatten(0, 1)))  # not clamped
    squared = 0.5 * (decoded - frames.flatten(0, 1)).square().sum() / len(decoded)
    torch.testing.assert_close(loss.reconstruction, squared / net.config.obs_std**2)
    for level, term in zip(trace.levels, loss.kl, strict=True):
        torch.testing.assert_close(level.kl.mean(), term)
    torch.testing.assert_close(loss.total, loss.reconstruction + 0.5 * loss.kl.sum())
    rates = [level.evidence.boundary.double().mean() for level in trace.levels]
    torch.testing.assert_close(loss.update_rate.double(), torch.stack(rates), rtol=1e-6, atol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_level_one_pays_its_divergence_at_every_frame(kind: str) -> None:
    net = model(kind)
    level = net.observe(video(), noise=noise(net)).levels[0]
    torch.testing.assert_close(level.kl, kl(level.q, level.p))


@pytest.mark.parametrize("kind", KINDS)
def test_noise_decides_the_result(kind: str) -> None:
    net, frames = model(kind).eval(), video()
    same = [net.loss(frames, noise=noise(net, seed=1)).total for _ in range(2)]
    assert same[0] == same[1]
    assert net.loss(frames, noise=noise(net, seed=2)).total != same[0]


@pytest.mark.parametrize("kind", KINDS)
def test_sequences_of_a_batch_are_independent(kind: str) -> None:
    net, frames = model(kind).eval(), video()
    both, alone = net.observe(frames), net.observe(frames[1:2])
    torch.testing.assert_close(both.c0[1:2], alone.c0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("samples", [False, True])
def test_a_rollout_in_two_parts_equals_one(kind: str, level: int, samples: bool) -> None:
    net = model(kind).eval()
    state = net.observe(video()).state
    whole_rng, parts_rng = (torch.Generator().manual_seed(5) for _ in range(2))
    whole = net.rollout(state, level, 8, samples=samples, generator=whole_rng)
    first = net.rollout(state, level, 3, samples=samples, generator=parts_rng)
    second = net.rollout(first.state, level, 5, samples=samples, generator=parts_rng)
    assert whole.frames.shape == (3, 8, 3, 16, 16)
    torch.testing.assert_close(whole.frames, torch.cat([first.frames, second.frames], 1))
    assert torch.equal(whole.boundary, torch.cat([first.boundary, second.boundary], 1))


@pytest.mark.parametrize("kind", KINDS)
def test_samples_vary_a_rollout(kind: str) -> None:
    net = model(kind).eval()
    state = net.observe(video()).state
    drawn = [
        net.rollout(state, 1, 4, samples=True, generator=torch.Generator().manual_seed(n)).frames
        for n in (0, 1)
    ]
    assert not torch.equal(*drawn)
    assert torch.equal(*(net.rollout(state, 1, 4).frames for _ in range(2)))


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_requests_are_refused(kind: str) -> None:
    net = model(kind).eval()
    state = net.observe(video()).state
    with pytest.raises(VPRError, match="level must be"):
        net.rollout(state, net.config.levels + 1, 1)
    with pytest.raises(VPRError, match="whole videos"):
        net.loss(video(), state)
    with pytest.raises(VPRError, match="noise must have shape"):
        net.observe(video(), noise=noise(net, length=2))
    with pytest.raises(VPRError, match=r"must lie in \[0, 1\]"):
        net.observe(2 * video())


@pytest.mark.parametrize("name", BASELINES)
def test_presets_can_be_written_and_read(name: str) -> None:
    config = baseline(name)
    assert config.preset == name
    assert from_dict(BaselineRun, to_dict(config), "config") == config


def test_published_sizes_are_the_defaults() -> None:
    vta, cw_vae = baseline("paper/vta-3dsd"), baseline("paper/cw-vae-3dsd")
    assert (vta.model.state_size, vta.model.width) == (8, 128)
    assert (vta.model.max_segment_length, vta.model.max_segments) == (8, 5)
    assert (cw_vae.model.state_size, cw_vae.model.width) == (20, 200)
    assert cw_vae.model.intervals == (1, 6, 36)
    assert {vta.model.network, cw_vae.model.network} == {"world-models"}
    assert (vta.training.learning_rate, vta.training.batch_size) == (5e-4, 64)
    assert vta.training.clip == 10
    assert (cw_vae.training.learning_rate, cw_vae.training.batch_size) == (3e-4, 50)


def test_cpu_presets_see_as_many_frames_as_those_of_vpr() -> None:
    for name in ("moving-ball", "3dsd"):
        ours = preset(f"cpu/{name}").training
        for kind in ("vta", "cw-vae"):
            theirs = baseline(f"cpu/{kind}-{name}").training
            assert theirs.steps == ours.steps
            assert theirs.batch_size * theirs.length == ours.batch_size * ours.length


@pytest.mark.parametrize("kind", KINDS)
def test_feature_vectors_are_modelled_too(kind: str) -> None:
    net = make_baseline(replace(CONFIGS[kind], frame=(1,)))
    frames = torch.from_numpy(Synthetic().batch(2, 7, training_rng(0)).frames)
    assert net.loss(frames, noise=net.noise(2, 7)).total.isfinite()


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        ("vta", {"levels": 3}, "VTA has 2 levels"),
        ("vta", {"max_segment_length": 0}, "max_segment_length"),
        ("vta", {"temperature_decay": 1.5}, "temperature_decay"),
        ("vta", {"likelihood": "bernoulli", "obs_std": 0.5}, "obs_std must be 1"),
        ("cw-vae", {"intervals": (1, 4, 6)}, "multiple of the one before"),
        ("cw-vae", {"obs_std": 0.0}, "obs_std must be above 0"),
    ],
)
def test_wrong_configurations_are_refused(kind: str, fields: dict[str, object], words: str) -> None:
    with pytest.raises(VPRError, match=words):
        replace(CONFIGS[kind], **fields)  # type: ignore[arg-type]
