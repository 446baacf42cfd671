"""Image networks: shapes, the original World Models, and where learning starts."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from tests.oracle import Weights, world_models_decode, world_models_encode
from vpr.config import ModelConfig
from vpr.errors import VPRError
from vpr.model import VPR
from vpr.nets import Codec, Folded, VectorCodec, WorldModels, make_codec
from vpr.nets.likelihood import make_likelihood
from vpr.nets.world_models import fold, unfolded

NETWORKS = ("world-models", "folded")
SQUARES = [(side, side) for side in (16, 32, 48, 64, 96, 128)]
OTHERS = [(16, 48), (64, 32), (32, 64), (128, 16)]


def random(*shape: int) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(0))


def codec(
    frame: tuple[int, ...], network: str = "folded", width: int = 12, output_scale: float = 1.0
) -> Codec:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = ModelConfig(frame=frame, width=width, network=network, channels=4)
        return make_codec(config, output_scale)


def shapes_inside(layers: nn.ModuleList, x: Tensor) -> list[tuple[int, ...]]:
    """Of what the layers, one after the other, make of a picture x (C, H, W)."""
    shapes = []
    for layer in layers:
        x = layer(x)
        shapes.append(tuple(x.shape))
    return shapes


def embedded(net: Codec, frames: Tensor) -> Tensor:
    return net.encode(net.to_layout(frames))


def decoded(net: Codec, c0: Tensor) -> Tensor:
    return net.to_frames(net.decode(c0))


class TestShapes:
    @pytest.mark.parametrize("network", NETWORKS)
    @pytest.mark.parametrize("colours", [1, 3])
    @pytest.mark.parametrize("size", [*SQUARES, *OTHERS], ids=str)
    @torch.no_grad()
    def test_in_and_out(self, network: str, colours: int, size: tuple[int, int]) -> None:
        frame = (colours, *size)
        net = codec(frame, network)
        x = embedded(net, random(2, *frame))
        assert x.shape == (2, 12)
        assert decoded(net, x).shape == (2, *frame)

    @pytest.mark.parametrize("size", [1, 5, 64])
    def test_vectors(self, size: int) -> None:
        net = codec((size,))
        assert isinstance(net, VectorCodec)
        x = embedded(net, random(2, size))
        assert x.shape == (2, 12)
        assert decoded(net, x).shape == (2, size)

    @pytest.mark.parametrize(
        ("network", "kind"), [("world-models", WorldModels), ("folded", Folded)]
    )
    def test_names(self, network: str, kind: type[Codec]) -> None:
        assert isinstance(codec((1, 16, 16), network), kind)

    def test_unknown_network(self) -> None:
        with pytest.raises(VPRError, match="world-models, folded, got resnet"):
            codec((1, 16, 16), "resnet")

    def test_the_base_class_raises(self) -> None:
        for call in (Codec().encode, Codec().decode, Codec().set_output):
            with pytest.raises(NotImplementedError):
                call(random(1))

    @pytest.mark.parametrize("frame", [(1, 16, 32), (3, 64, 64), (5,)], ids=str)
    @pytest.mark.parametrize("network", NETWORKS)
    @torch.no_grad()
    def test_frames_do_not_see_each_other(self, network: str, frame: tuple[int, ...]) -> None:
        net, frames = codec(frame, network), random(3, *frame)
        together = decoded(net, embedded(net, frames))
        alone = torch.cat([decoded(net, embedded(net, one[None])) for one in frames])
        torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize("network", NETWORKS)
    @pytest.mark.parametrize("size", [(16, 32), (64, 64)], ids=str)
    def test_every_pixel_counts(self, network: str, size: tuple[int, int]) -> None:
        """All pixels have an effect, except the last two lines in the original World Models."""
        net = codec((3, *size), network)
        frames = random(1, 3, *size).requires_grad_()
        embedded(net, frames).sum().backward()
        blind = 2 if network == "world-models" and size == (64, 64) else 0
        seen = torch.zeros(size, dtype=torch.bool)
        seen[: size[0] - blind, : size[1] - blind] = True
        assert torch.equal((frames.grad[0] != 0).all(0), seen)
        assert (decoded(net, torch.eye(12)).std(0) > 0).all()


class TestFold:
    @pytest.mark.parametrize("k", [2, 4])
    @pytest.mark.parametrize(("h", "w"), [(4, 8), (8, 8), (8, 12)])
    @pytest.mark.parametrize("c", [1, 3])
    def test_inverse(self, k: int, h: int, w: int, c: int) -> None:
        y = random(2, h, w, c)
        folded = fold(y, k)
        assert folded.shape == (2, h // k, w // k, k * k * c)
        assert torch.equal(unfolded(folded, k), y)
        assert torch.equal(fold(unfolded(folded, k), k), folded)

    def test_a_patch_is_a_vector(self) -> None:
        y = random(1, 8, 12, 3)
        patch = y[0, 4:8, 8:12]
        assert torch.equal(fold(y, 4)[0, 1, 2], patch.flatten())


class TestWorldModels:
    net = WorldModels((3, 64, 64), width=200, channels=32)

    def test_encoder(self) -> None:
        layers = self.net.convolutions
        assert [tuple(layer.weight.shape) for layer in layers] == [
            (32, 3, 4, 4),
            (64, 32, 4, 4),
            (128, 64, 4, 4),
            (256, 128, 4, 4),
        ]
        assert all(layer.stride == (2, 2) and layer.padding == (0, 0) for layer in layers)
        assert self.net.embed.in_features == 2 * 2 * 256
        inside = shapes_inside(layers, random(3, 64, 64))
        assert inside == [(32, 31, 31), (64, 14, 14), (128, 6, 6), (256, 2, 2)]

    def test_decoder(self) -> None:
        layers = self.net.transposed
        assert [tuple(layer.weight.shape) for layer in layers] == [
            (1024, 128, 5, 5),
            (128, 64, 5, 5),
            (64, 32, 6, 6),
            (32, 3, 6, 6),
        ]
        assert all(layer.stride == (2, 2) and layer.padding == (0, 0) for layer in layers)
        assert self.net.unfold.out_features == 1024
        inside = shapes_inside(layers, random(1024, 1, 1))
        assert inside == [(128, 5, 5), (64, 13, 13), (32, 30, 30), (3, 64, 64)]

    def test_other_sizes_halve_four_times(self) -> None:
        net = codec((1, 32, 48), "world-models")
        assert isinstance(net, WorldModels)
        inside = shapes_inside(net.convolutions, random(1, 32, 48))
        assert inside == [(4, 16, 24), (8, 8, 12), (16, 4, 6), (32, 2, 3)]
        inside = shapes_inside(net.transposed, random(16, 2, 3))
        assert inside == [(16, 4, 6), (8, 8, 12), (4, 16, 24), (1, 32, 48)]


def test_folded_pixels_are_those_of_each_patch() -> None:
    frames = random(2, 3, 32, 48)
    y = codec((3, 32, 48)).to_layout(frames)
    assert torch.equal(y, fold(frames.movedim(1, -1), 4))
    assert torch.equal(unfolded(y, 4).movedim(-1, 1), frames)


class TestSingleFrame:
    @pytest.mark.parametrize("network", NETWORKS)
    @pytest.mark.parametrize("frame", [(3, 64, 64), (1, 32, 48), (3, 128, 16)], ids=str)
    @torch.no_grad()
    def test_equals_a_batch(self, network: str, frame: tuple[int, int, int]) -> None:
        net, frames = codec(frame, network).double(), random(5, *frame).double()
        encoder = net.single_frame_encoder()
        found = torch.stack([encoder(each) for each in frames])
        torch.testing.assert_close(found, embedded(net, frames), rtol=1e-12, atol=1e-12)
        apart = frames.movedim(1, -1).contiguous().movedim(-1, 1)  # another order in memory
        assert torch.equal(encoder(apart[0]), found[0])

    @pytest.mark.parametrize("network", NETWORKS)
    @torch.no_grad()
    def test_keeps_the_weights_of_its_beginning(self, network: str) -> None:
        net, frame = codec((3, 16, 16), network), random(3, 16, 16)
        encoder = net.single_frame_encoder()
        before = encoder(frame)
        for weight in net.parameters():
            weight.zero_()
        assert torch.equal(encoder(frame), before)


class TestSetOutput:
    MEAN = torch.tensor([0.1, 0.5, 0.9])

    @pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian"])
    @pytest.mark.parametrize("network", NETWORKS)
    @pytest.mark.parametrize("size", [(32, 48), (64, 64)], ids=str)
    @torch.no_grad()
    def test_starts_at_the_mean_of_the_data(
        self, likelihood: str, network: str, size: tuple[int, int]
    ) -> None:
        """Approximately for any latent, and exactly if the weights of the last layer are 0."""
        pixels = make_likelihood(likelihood)
        net = codec((3, *size), network, output_scale=pixels.output_scale)
        net.set_output(pixels.level(self.MEAN))
        c0 = torch.randn(64, 12, generator=torch.Generator().manual_seed(1))
        shown = pixels.mean(decoded(net, c0)).mean((0, 2, 3))
        torch.testing.assert_close(shown, self.MEAN, rtol=0, atol=0.15)
        quiet = [net.transposed[-1]] if isinstance(net, WorldModels) else [net.paint, net.shape]
        for layer in quiet:
            layer.weight.zero_()
        exact = self.MEAN[:, None, None].expand(64, 3, *size)
        torch.testing.assert_close(pixels.mean(decoded(net, c0)), exact)

    @pytest.mark.parametrize("frame", [(3, 64, 64), (3, 32, 48), (5,)], ids=str)
    @pytest.mark.parametrize("network", NETWORKS)
    @torch.no_grad()
    def test_initial_outputs_of_a_gaussian_are_small(
        self, network: str, frame: tuple[int, ...]
    ) -> None:
        """Outputs of a Gaussian are brightness; the scale of logits would be too large."""
        with torch.random.fork_rng():
            torch.manual_seed(0)
            gaussian = VPR(ModelConfig(frame=frame, network=network, likelihood="gaussian"))  # type: ignore[arg-type]
        shown = gaussian.codec.decode(torch.randn(64, gaussian.config.width))
        assert shown.std() < 0.2

    @torch.no_grad()
    def test_vectors_start_at_their_mean(self) -> None:
        net, level = codec((5,)), torch.linspace(-2, 3, 5)
        assert isinstance(net, VectorCodec)
        net.set_output(level)
        net.dec.layers[-1].weight.zero_()
        torch.testing.assert_close(decoded(net, random(4, 12)), level.expand(4, 5))

    @pytest.mark.parametrize("network", NETWORKS)
    @torch.no_grad()
    def test_a_level_is_kept_finite(self, network: str) -> None:
        """Black data has no finite logit; the initial output is very dark."""
        net, pixels = codec((1, 16, 16), network), make_likelihood("bernoulli")
        net.set_output(pixels.level(torch.zeros(1)))
        assert decoded(net, random(2, 12)).isfinite().all()


class TestTint:
    @pytest.mark.parametrize("colour_masks", [1, 4])
    def test_output_layer_is_paint_plus_shape_times_tint(self, colour_masks: int) -> None:
        """The weights of each frame give what the two layers and the products would give."""
        net = Folded((3, 32, 48), 12, 4, colour_masks)
        c0, y = random(5, 12), random(5, 2, 3, net.widths[-1])
        weight, bias = net._output_layer(c0)
        ours = torch.einsum("mhwi,moi->mhwo", y, weight) + bias[:, None, None]
        plain = net.paint(y)
        shapes = net.shape(y).split(net.PIXELS, -1)
        for shape, tint in zip(shapes, net.tint(c0).split(3, -1), strict=True):
            plain = plain + (shape.unsqueeze(-1) * tint[:, None, None, None]).flatten(-2)
        torch.testing.assert_close(ours, plain)
        for a, b in zip(
            torch.autograd.grad(ours.pow(2).sum(), [net.tint.weight, net.shape.weight]),
            torch.autograd.grad(plain.pow(2).sum(), [net.tint.weight, net.shape.weight]),
            strict=True,
        ):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_world_models_is_the_network_of_its_paper() -> None:
    """Against the oracle's own layers; every weight is used, with the original channels."""
    torch.manual_seed(0)
    net = WorldModels((3, 64, 64), 12, 4).double()
    for layer in (*net.convolutions, *net.transposed, net.embed, net.unfold):
        torch.nn.init.normal_(layer.bias, std=0.3)
    frames, c0 = torch.rand(2, 3, 64, 64).double(), torch.randn(2, 12).double()
    w = Weights(net, "")
    torch.testing.assert_close(net.encode(net.to_layout(frames)), world_models_encode(w, frames))
    torch.testing.assert_close(net.to_frames(net.decode(c0)), world_models_decode(w, c0))
    assert w.unused() == set()
    original = WorldModels((3, 64, 64), 200, 32)
    assert [layer.out_channels for layer in original.convolutions] == [32, 64, 128, 256]
    assert original.unfold.out_features == 1024
    assert [layer.out_channels for layer in original.transposed] == [128, 64, 32, 3]
