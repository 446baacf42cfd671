"""The reference implementations compute the same values; the commands report their fields."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import vpr.cli.bench
from benchmarks import flops, learn, memory, stream, timing, train
from benchmarks.models import matching_model
from benchmarks.naive_vpr import make_naive
from benchmarks.plain_codecs import make_plain_codec, plain_nll
from benchmarks.steps import limit_step, plain_step
from vpr.cli import main
from vpr.config import ModelConfig
from vpr.events import Subjective
from vpr.model import VPR
from vpr.nets import Codec, Folded, make_codec
from vpr.nets.likelihood import make_likelihood
from vpr.presets import preset
from vpr.state import Trace
from vpr.stream import Stream
from vpr.utils.tree import tree_put

CODECS = [
    ("world-models", (3, 64, 64), 1),
    ("world-models", (1, 32, 32), 1),
    ("world-models", (3, 16, 48), 1),
    ("folded", (3, 32, 48), 1),
    ("folded", (3, 32, 48), 4),
    ("folded", (1, 16, 16), 1),
    ("folded", (1, 16, 16), 4),
    ("features", (5,), 1),
]
PRECISION = {torch.float64: 1e-9, torch.float32: 1e-5}
TINY = [
    *("--data.size", "16", "--model.frame", "3,16,16", "--model.width", "12"),
    *("--model.state-size", "3", "--model.channels", "4", "--training.batch-size", "3"),
    *("--training.length", "4", "--repeats", "2"),
]


@contextmanager
def no_bar(total: int) -> Iterator[Callable[[int, str], None]]:
    yield lambda done, note: None


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@torch.no_grad()
def codec(network: str, frame: tuple[int, ...], colour_masks: int = 1) -> Codec:
    """A codec with random biases that are constant within a patch."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        kinds = {} if network == "features" else {"network": network}
        config = ModelConfig(frame=frame, width=12, channels=4, colour_masks=colour_masks, **kinds)
        net = make_codec(config).double()
    pixels: dict[nn.Module, int] = {}
    if isinstance(net, Folded):
        pixels = dict.fromkeys(net.up, 4) | {net.paint: net.PIXELS}
    for seed, layer in enumerate(net.modules()):
        if isinstance(layer, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
            k = pixels.get(layer, 1)
            layer.bias.copy_(normal(len(layer.bias) // k, seed=seed).repeat(k))
    if isinstance(net, Folded):  # one bias per tint
        net.shape.bias.copy_(normal(colour_masks).repeat_interleave(net.PIXELS))
    return net


def assert_near(ours: Tensor, theirs: Tensor) -> None:
    """Close relative to the largest value; equal if not floating-point."""
    scale = float(theirs.detach().double().nan_to_num(0, 0, 0).abs().max())
    atol = PRECISION.get(theirs.dtype, 0.0) * max(scale, 1.0)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=atol, equal_nan=True)


class TestPlain:
    @pytest.mark.parametrize("dtype", PRECISION, ids=str)
    @pytest.mark.parametrize(("network", "frame", "colour_masks"), CODECS, ids=str)
    def test_same_numbers_and_gradients(
        self, network: str, frame: tuple[int, ...], colour_masks: int, dtype: torch.dtype
    ) -> None:
        net = codec(network, frame, colour_masks).to(dtype)
        plain = make_plain_codec(net, frame)
        frames = normal(3, *frame).sigmoid().to(dtype).requires_grad_()
        c0 = normal(3, 12, seed=1).to(dtype).requires_grad_()
        ours = net.encode(net.to_layout(frames)), net.to_frames(net.decode(c0))
        theirs = plain.encode(frames), plain.decode(c0)
        slopes = [normal(*part.shape, seed=2).to(dtype) for part in ours]
        for a, b in zip(ours, theirs, strict=True):
            assert_near(a, b)
        for a, b in zip(
            torch.autograd.grad(ours, [frames, c0], slopes, retain_graph=True),
            torch.autograd.grad(theirs, [frames, c0], slopes, retain_graph=True),
            strict=True,
        ):
            assert_near(a, b)
        torch.autograd.backward(ours, slopes)
        torch.autograd.backward(theirs, slopes)
        self.check_weights(net, plain)

    def check_weights(self, net: Codec, plain: nn.Module) -> None:
        """Compare the gradients of all weights with the same layout in both."""
        own, stock = (dict(part.named_parameters()) for part in (net, plain))
        if isinstance(net, Folded):
            same = ["modulate.weight", "tint.weight", "tint.bias", "embed.bias"]
            same += [f"down.{n}.bias" for n in range(3)]
            same += [f"{name}.weight" for name in ("where", "move", "broadcast")]
            pairs = [(own[name], stock[name]) for name in same]
        else:
            pairs = list(zip(own.values(), stock.values(), strict=True))
        for a, b in pairs:
            assert a is not b
            assert a.grad is not None
            assert b.grad is not None
            assert_near(a.grad, b.grad)

    @pytest.mark.parametrize("network", ["world-models", "folded"])
    def test_layers_are_stock_layers_in_the_default_format(self, network: str) -> None:
        plain = make_plain_codec(codec(network, (3, 64, 64)), (3, 64, 64))
        kinds = {type(part) for part in plain.modules() if not list(part.children())}
        assert kinds == {nn.Conv2d, nn.ConvTranspose2d, nn.Linear}
        assert all(weight.is_contiguous() for weight in plain.parameters())

    def test_a_trained_bias_is_refused(self) -> None:
        net = codec("folded", (1, 16, 16))
        assert isinstance(net, Folded)
        with torch.no_grad():
            net.paint.bias[3] += 1
        with pytest.raises(Exception, match="varies within a patch"):
            make_plain_codec(net, (1, 16, 16))

    @pytest.mark.parametrize("name", ["bernoulli", "gaussian"])
    def test_same_loss(self, name: str) -> None:
        output, frames = normal(20, 1, 4, 4), normal(20, 1, 4, 4, seed=1).sigmoid()
        assert_near(make_likelihood(name).nll(output, frames), plain_nll(output, frames, name))


class TestNaive:
    @pytest.mark.parametrize("dtype", PRECISION, ids=str)
    @pytest.mark.parametrize("levels", [1, 2, 3])
    def test_same_trace_and_gradients(
        self, levels: int, dtype: torch.dtype, tiny_model: Any, draw: Any
    ) -> None:
        model = tiny_model(levels, dtype=dtype)
        naive, noise = make_naive(model), draw(model)
        x0 = scenes_in_x0(dtype)
        ours, theirs = (
            model.observe_encoded(x0, noise=noise),
            naive.observe_encoded(x0, noise=noise),
        )
        for part in zip(leaves(compared_parts(ours)), leaves(compared_parts(theirs)), strict=True):
            assert_near(*part)
        for level in ours.levels[1:]:
            assert 0 < level.evidence.boundary[:, 1:].float().mean() < 1
        for a, b in zip(gradients(model, ours, x0), gradients(naive, theirs, x0), strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                assert_near(a, b)

    @pytest.mark.parametrize("events", [True, False])
    def test_gradients_from_a_state_on(self, events: bool, tiny_model: Any, draw: Any) -> None:
        """Starting from a state that some levels keep."""
        model = tiny_model(4, seed=12, window=5)
        if not events:
            model.rule = Subjective(expected=False, unexpected=False, window=5)
        naive, noise, x0 = make_naive(model), draw(model), scenes_in_x0(torch.float64)
        state = model.observe_encoded(x0[:, :5].detach()).state
        state = tree_put(state, torch.tensor([1]), model.initial(1), 3)  # one sequence is new
        ours, theirs = (net.observe_encoded(x0[:, 5:], state, noise[5:]) for net in (model, naive))
        assert ours.levels[1].evidence.boundary[0].any() == events
        for a, b in zip(gradients(model, ours, x0), gradients(naive, theirs, x0), strict=True):
            if b is not None:  # a gradient can be None in one and 0 in the other
                assert_near(torch.zeros_like(b) if a is None else a, b)

    def test_continues_from_a_state(self, tiny_model: Any) -> None:
        model, x0 = tiny_model(3), scenes_in_x0(torch.float64)
        naive = make_naive(model)
        whole = model.observe_encoded(x0)
        rest = naive.observe_encoded(x0[:, 5:], naive.observe_encoded(x0[:, :5]).state)
        torch.testing.assert_close(whole.c0[:, 5:], rest.c0)

    def test_shares_the_parameters(self, tiny_model: Any) -> None:
        model = tiny_model(2)
        twins = zip(model.parameters(), make_naive(model).parameters(), strict=True)
        assert all(a is b for a, b in twins)


def scenes_in_x0(dtype: torch.dtype) -> Tensor:
    """x⁰ (3, 12, 12), constant up to noise for three frames at a time."""
    jumps = 3 * normal(3, 4, 12).repeat_interleave(3, 1)
    return (jumps + 0.1 * normal(3, 12, 12, seed=1)).to(dtype).requires_grad_()


def compared_parts(trace: Trace) -> Any:
    """All parts of a trace except the comparison cache, which the naive version does not have."""
    blocks = [(block.d, block.c, block.s, block.q, block.d_next) for block in trace.state.blocks]
    levels = [(lv.s, lv.q, lv.p, lv.kl, lv.evidence) for lv in trace.levels]
    return trace.c0, levels, blocks, trace.state.windows, trace.state.time


def leaves(tree: Any) -> list[Tensor]:
    if isinstance(tree, Tensor):
        return [tree]
    return [leaf for branch in tree or () for leaf in leaves(branch)]


def gradients(model: VPR, trace: Trace, x0: Tensor) -> tuple[Tensor | None, ...]:
    total = trace.c0.square().mean() + sum(level.kl.mean() for level in trace.levels)
    return torch.autograd.grad(total, [x0, *model.blocks.parameters()], allow_unused=True)


class TestTiming:
    def test_medians_in_turns_without_the_first_round(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        clock, order = [0.0], []
        monkeypatch.setattr(timing, "perf_counter", lambda: clock[0])

        def takes(name: str, times: list[float]) -> Callable[[], None]:
            def call() -> None:
                order.append(name)
                clock[0] += times.pop(0)

            return call

        candidates = {"a": takes("a", [500, 1, 9, 2]), "b": takes("b", [500, 30, 10, 20])}
        assert timing.median_seconds(candidates, 3, no_bar) == {"a": 2, "b": 20}
        assert order == ["a", "b"] * 4


class TestFlops:
    """Three products per layer: forward, and gradients of weights and inputs, except for frames."""

    M = 5

    def test_folded_by_hand(self, tiny_model: Any) -> None:
        model = tiny_model(1, dtype=torch.float32, frame=(3, 16, 16))
        first = 16 * 48 * 4
        encoder = first + 4 * 16 * 8 + 32 * 16 + (16 + 16) * 12
        decoder = 12 * 16 + 16 * 32 + 4 * 8 * 32 + 12 * 64 + 12 * 3 + 16 * 8 * 51
        decoder += 12 * 24 + 16 * 12 * 8  # the broadcast path
        bilinear = 16 * 27 * 48  # its weights are fixed: forward, and the gradient of the input
        # Once for all frames: forward, and the gradient of the weights.
        where = 16 * model.codec.places.shape[-1] * 12
        step = limit_step(model, torch.rand(self.M, 3, 16, 16))
        total = 3 * (encoder + decoder) - first + 2 * bilinear
        assert flops.flops(step) == 2 * (self.M * total + 2 * where)
        step = limit_step(model, torch.rand(self.M, 3, 16, 16), torch.tensor([0, 3]))
        total = self.M * (3 * encoder - first) + 2 * (3 * decoder + 2 * bilinear)
        assert flops.flops(step) == 2 * (total + 2 * where)

    def test_convolutions_by_hand(self, tiny_model: Any) -> None:
        frame = (3, 32, 32)
        model = tiny_model(1, dtype=torch.float32, frame=frame, network="world-models")
        plan = [3, 4, 8, 16, 32]
        down = [a * b * 16 * side**2 for (a, b), side in zip(pairwise(plan), (16, 8, 4, 2))]  # noqa: B905
        plan = [16, 16, 8, 4, 3]
        up = [a * b * 16 * side**2 for (a, b), side in zip(pairwise(plan), (2, 4, 8, 16))]  # noqa: B905
        total = sum(down) + 2 * 2 * 32 * 12 + 12 * 2 * 2 * 16 + sum(up)
        step = plain_step(model, torch.rand(self.M, *frame))
        assert flops.flops(step) == 2 * self.M * (3 * total - down[0])

    def test_peak_is_the_best_rate(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(flops, "SIZES", (10, 20))
        monkeypatch.setattr(flops, "TRIES", 2)
        times = iter([1.0, 0.5, 10.0, 4.0])
        monkeypatch.setattr(flops, "elapsed_seconds", lambda call: next(times))
        assert flops.peak_gflops(no_bar) == pytest.approx(max(2000 / 0.5, 16000 / 4) / 1e9)


class TestStream:
    def test_without_events_level_2_still_compares(self, tiny_model: Any, scenes: Any) -> None:
        model = tiny_model(3)
        model.rule = stream.no_events_rule(model.config)
        feed = Stream(model)
        first, *rest = scenes(batch=1)[0]
        feed.push(first)
        before = feed.state
        for frame in rest:
            assert feed.push(frame) == []
        assert all(torch.equal(a.s, b.s) for a, b in zip(before.blocks[1:], feed.state.blocks[1:]))  # noqa: B905
        assert [int(window.pushed) for window in feed.state.windows] == [len(rest), 0]

    def test_shipped_weights_only_for_matching_configurations(self) -> None:
        shapes = preset("cpu/3dsd")
        assert matching_model(shapes)[1] == "3dsd"
        assert matching_model(preset("cpu/moving-ball"))[1] == "moving-ball"
        others = (
            preset("cpu/moving-ball-slow"),  # other data
            replace(shapes, model=replace(shapes.model, layers=4)),
        )
        for config in others:
            model, name = matching_model(config)
            assert name == "untrained"
            assert model.config == config.model


class TestMemory:
    def test_resident_memory_grows_with_allocations(self) -> None:
        before = memory.resident_mb()
        # Allocated by the system, since the C library could reuse freed memory.
        with mmap.mmap(-1, 100 * 2**20) as held:
            for page in range(0, len(held), mmap.PAGESIZE):
                held[page] = 1
            assert 90 < memory.resident_mb() - before < 150
        assert memory.peak_mb() >= before + 90

    def test_peak_memory_without_proc(self, monkeypatch: pytest.MonkeyPatch) -> None:
        peak = memory.peak_mb()
        monkeypatch.setattr(memory, "STATUS", memory.STATUS / "nowhere")
        assert memory.peak_mb() > 0.9 * peak


def bench(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """The output of `vpr bench …` at a tiny scale."""
    assert main(["bench", *words, *TINY]) == 0
    out, _ = capsys.readouterr()
    return json.loads(out) if "--json" in words else out


class TestCommand:
    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(flops, "SIZES", (64, 128))
        monkeypatch.setattr(stream, "BLOCK", 2)

    def test_baselines(self, capsys: pytest.CaptureFixture[str]) -> None:
        result = bench(capsys, "baselines", "--threads", "1", "--json")
        names = ("vpr", "vta", "cw_vae", "vta_published")
        assert list(result) == [
            *("preset", "threads", "repeats", "frames", "frame"),
            *(f"{name}_s" for name in names),
            *(f"{name}_fps" for name in names),
            *(f"{name}_over_vpr" for name in names[1:]),
        ]
        assert (result["frames"], result["frame"]) == (12, [3, 16, 16])
        for name in names[1:]:
            assert result[f"{name}_over_vpr"] == result[f"{name}_s"] / result["vpr_s"]
            assert result[f"{name}_fps"] == pytest.approx(12 / result[f"{name}_s"])
        shown = bench(capsys, "baselines", "--threads", "1")
        assert "CW-VAE / VPR" in shown

    def test_train(self, capsys: pytest.CaptureFixture[str]) -> None:
        ballast = torch.ones(150 * 2**20)  # 600 MB of this process, which must not be counted
        result = bench(capsys, "train", "--threads", "1", "--json", "--model.levels", "3")
        assert list(result) == [
            *("preset", "threads", "repeats", "frames", "weights", "update_rate", "limit_s"),
            *("plain_s", "vpr_s"),
            *(
                "core_s",
                "naive_core_s",
                "naive_s",
                "vpr_over_limit",
                "limit_over_plain",
                "naive_over_core",
            ),
            *("peak_gflops", "limit_share_of_peak", "vpr_share_of_peak", "peak_memory_mb"),
        ]
        assert (result["preset"], result["threads"]) == ("cpu/moving-ball", 1)
        assert (result["repeats"], result["frames"]) == (2, 12)
        assert len(result["update_rate"]) == 3
        assert result["update_rate"][0] == 1.0
        assert result["vpr_over_limit"] == result["vpr_s"] / result["limit_s"]
        assert result["limit_over_plain"] == result["limit_s"] / result["plain_s"]
        assert result["naive_over_core"] == result["naive_core_s"] / result["core_s"]
        limit, whole = (result[f"{a}_share_of_peak"] * result[f"{a}_s"] for a in ("limit", "vpr"))
        assert 0 < limit < whole  # a step includes the image network
        assert 50 < result["peak_memory_mb"] < 600
        assert ballast[0] == 1

    def test_stream(self, capsys: pytest.CaptureFixture[str]) -> None:
        result = bench(capsys, "stream", "--json", "--frames", "1020")
        assert set(result) == {
            *("preset", "threads", "repeats", "frames", "weights", "encoder_s", "blocked_s"),
            *("single_encoder_s", "blocked_over_single_encoder"),
            *("updating_s", "blocked_over_encoder", "frames_per_second", "by_levels"),
            *("rss_mb_1k", "rss_mb_100k", "torch_s", "onnx_s", "onnx_over_torch"),
        }
        assert (result["threads"], result["frames"]) == (1, 1020)
        assert result["onnx_over_torch"] == pytest.approx(result["onnx_s"] / result["torch_s"])
        assert result["weights"] == "untrained"
        assert result["blocked_over_encoder"] == result["blocked_s"] / result["encoder_s"]
        assert list(result["by_levels"]) == ["1", "2", "3", "4", "5", "6"]
        assert set(result["by_levels"]["6"]) == {"blocked_s", "updating_s"}
        assert abs(result["rss_mb_100k"] - result["rss_mb_1k"]) < 10

    def test_learn(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        words = ["--json", "--training.steps", "6", "--every", "4"]
        result = bench(capsys, "learn", *words)
        assert list(result) == [
            *("preset", "seed", "threads", "target", "reached"),
            *("step", "seconds", "core_minutes", "f1", "evaluations"),
        ]
        assert [each["step"] for each in result["evaluations"]] == [4, 6]
        assert not result["reached"]
        assert list(result["f1"]) == ["2"]
        minutes = [each["core_minutes"] for each in result["evaluations"]]
        assert 0 < minutes[0] < minutes[1] == result["core_minutes"]
        monkeypatch.setattr(learn, "TARGET", 0.0)
        assert "F1 ≥ 0.0" in bench(capsys, "learn", *words[1:])

    def test_rollout(self, capsys: pytest.CaptureFixture[str]) -> None:
        result = bench(capsys, "rollout", "--json", "--model.levels", "3")
        assert list(result) == ["preset", "threads", "repeats", "weights", "steps", "by_sequences"]
        assert (result["threads"], result["steps"]) == (1, 200)
        assert list(result["by_sequences"]) == ["1", "16"]
        for times in result["by_sequences"].values():
            ratio = times["rollout_s"] / times["decoding_s"]
            assert times["rollout_over_decoding"] == ratio

    def test_data(self, capsys: pytest.CaptureFixture[str]) -> None:
        result = bench(capsys, "data", "--threads", "1", "--json")
        assert {"batch_s", "step_s", "data_share", "weights"} < set(result)
        assert result["data_share"] == result["batch_s"] / result["step_s"]

    @pytest.mark.parametrize(
        ("kind", "words"),
        [
            ("train", ["--threads", "1"]),
            ("data", ["--threads", "1"]),
            ("stream", ["--frames", "3"]),
            ("rollout", []),
        ],
    )
    def test_tables(
        self,
        kind: str,
        words: list[str],
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(train, "training_peak_mb", lambda config, threads: 1.0)
        measured = {"torch_s": 1e-3, "onnx_s": 5e-4, "onnx_over_torch": 0.5}
        monkeypatch.setattr(stream, "bench_onnx", lambda *_: measured)
        out = bench(capsys, kind, *words)
        assert "medians of 2 rounds" in out
        assert "costs nothing" in out

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            ("dance", "invalid choice: 'dance'"),
            ("data --preset cpu/cats", "no preset 'cpu/cats'"),
            ("data --repeats 0", "repeats must be 1 or more, got 0"),
            ("stream --frames 0", "frames must be 1 or more, got 0"),
            ("train --frames 3", "unknown --frames 3"),
            ("stream --threads 3", "unknown --threads 3"),
            ("rollout --threads 3", "unknown --threads 3"),
        ],
    )
    def test_errors(self, words: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
        try:
            code = main(["bench", *words.split()])
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        assert (code, out) == (2, "")
        assert says in err
        assert len(err.strip().splitlines()) == 1

    def test_an_installed_package_has_no_benchmarks(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(vpr.cli.bench, "REPOSITORY", tmp_path)
        assert main(["bench", "train"]) == 2
        assert "clone the repository" in capsys.readouterr().err

    def test_flags_of_the_preset(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit):
            main(["bench", "train", "--preset=paper/moving-ball", "--help"])
        out, _ = capsys.readouterr()
        assert re.search(r"--model\.layers N\s.*?\[4\]", out, re.DOTALL)  # cpu/… presets have 2
        assert re.search(r"--training\.learning-rate X\s.*?\[0\.0005\]", out, re.DOTALL)
        assert "Making a training batch, compared with a training step." in out
