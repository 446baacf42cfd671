"""Algorithm 1 of the paper and its networks, literally: one video, plain ifs, one vector at a time.

The networks are written out from the appendix "Model architecture and training". They share only
the weights with the model, so a wrong residual connection, activation or number of layers in the
model gives other results. Levels are counted from 0 here, so `M[0]` is the paper's level 1, which
always updates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import conv2d, conv_transpose2d, logsigmoid

from vpr.model import VPR


class Gauss(NamedTuple):
    mean: Tensor  # (S,)
    std: Tensor  # (S,)


class Verdict(NamedTuple):
    """What a rule says of one level at one frame."""

    expected: bool
    unexpected: bool
    update: bool
    threshold: float


# paper's level, frame from 0, D_st, D_ch, the last values of D_st
Decide = Callable[[int, int, float, float, list[float]], Verdict]


class Seen(NamedTuple):
    """One level at one frame."""

    boundary: bool
    kl_static: float
    kl_change: float
    threshold: float
    expected: bool
    unexpected: bool
    s: Tensor
    q: Gauss
    p: Gauss
    kl: Tensor


class Record(NamedTuple):
    levels: list[list[Seen]]  # [frame][level]
    c0: list[Tensor]  # [frame]
    windows: list[list[float]]  # [level], empty for level 1


@dataclass
class Memory:
    """A level since its last update."""

    d: Tensor
    c: Tensor
    s: Tensor
    q: Gauss
    p: Gauss
    d_next: Tensor
    p_ch: Gauss


class Weights:
    """The parameters of a part of the model, by name; notes which of them were used."""

    def __init__(self, model: torch.nn.Module, prefix: str) -> None:
        named = dict(model.named_parameters())
        self.values = {k.removeprefix(prefix): v for k, v in named.items() if k.startswith(prefix)}
        self.used: set[str] = set()

    def __call__(self, name: str) -> Tensor:
        self.used.add(name)
        return self.values[name]

    def unused(self) -> set[str]:
        return self.values.keys() - self.used


class Level:
    """The networks of one level, for single vectors."""

    def __init__(self, model: VPR, n: int) -> None:
        self.w = Weights(model, f"blocks.{n}.")
        self.layers, self.min_std = model.config.layers, model.config.min_std
        self.state_size = model.config.state_size

    def f_enc(self, x: Tensor) -> Tensor:
        """Layers with a residual connection: f(x) + 0.1·x."""
        return self.fully_connected("f_enc.net", x, self.layers) + 0.1 * x

    def f_dec(self, c: Tensor, s: Tensor) -> Tensor:
        """c^{n−1}: the same building block, of c^n and s^n."""
        return self.fully_connected("f_dec.net", torch.cat([c, s]), self.layers) + 0.1 * c

    def compress(self, x: Tensor) -> Tensor:
        """Component (c) of the bottom-up model: no residual connection."""
        return self.fully_connected("compress", x, self.layers)

    def q(self, compressed: Tensor, d: Tensor, c: Tensor) -> Gauss:
        """The posterior: as many layers; the first one is split by its inputs."""
        of_x = self.w("q.of_x.weight") @ compressed + self.w("q.of_x.bias")
        first = of_x + self.w("q.of_d.weight") @ d + self.w("q.of_c.weight") @ c
        return self.gauss(self.fully_connected("q.head.net", leaky_relu(first), self.layers - 1))

    def p(self, d: Tensor, c: Tensor) -> Gauss:
        """The prior."""
        return self.gauss(self.fully_connected("p.head.net", torch.cat([d, c]), self.layers))

    def f_tran(self, s: Tensor, d: Tensor) -> Tensor:
        """A GRU after a fully connected layer of |s| neurons."""
        x = leaky_relu(self.w("f_tran.dense.weight") @ s + self.w("f_tran.dense.bias"))
        of_x = self.w("f_tran.gru.weight_ih") @ x + self.w("f_tran.gru.bias_ih")
        of_d = self.w("f_tran.gru.weight_hh") @ d + self.w("f_tran.gru.bias_hh")
        width = len(d)
        reset = sigmoid(of_x[:width] + of_d[:width])
        keep = sigmoid(of_x[width : 2 * width] + of_d[width : 2 * width])
        new = torch.tanh(of_x[2 * width :] + reset * of_d[2 * width :])
        return (1 - keep) * new + keep * d

    def fully_connected(self, name: str, x: Tensor, layers: int) -> Tensor:
        """Leaky ReLU between the layers, none after the last."""
        for i in range(layers):
            if i > 0:
                x = leaky_relu(x)
            x = self.w(f"{name}.layers.{i}.weight") @ x + self.w(f"{name}.layers.{i}.bias")
        return x

    def gauss(self, output: Tensor) -> Gauss:
        """2·|s| outputs: the mean, and σ by a softplus above its lower bound."""
        mean, raw = output[: self.state_size], output[self.state_size :]
        return Gauss(mean, self.min_std + (1 + raw.exp()).log())


def leaky_relu(x: Tensor) -> Tensor:
    return torch.where(x > 0, x, 0.3 * x)


def sigmoid(x: Tensor) -> Tensor:
    return 1 / (1 + (-x).exp())


def world_models_encode(w: Weights, frames: Tensor) -> Tensor:  # (M, C, 64, 64) → (M, D)
    """The encoder of World Models: four 4×4 convolutions of stride 2, then one dense layer."""
    y = frames
    for i in range(4):
        weight, bias = w(f"convolutions.{i}.weight"), w(f"convolutions.{i}.bias")
        assert weight.shape[2:] == (4, 4)
        y = leaky_relu(conv2d(y, weight, bias, stride=2))
    return y.flatten(1) @ w("embed.weight").T + w("embed.bias")


def world_models_decode(w: Weights, c0: Tensor) -> Tensor:  # (M, D) → (M, C, 64, 64)
    """The decoder of World Models: a dense layer to 1×1, then transposed convolutions."""
    y = (c0 @ w("unfold.weight").T + w("unfold.bias"))[:, :, None, None]
    for i, k in enumerate((5, 5, 6, 6)):
        if i > 0:
            y = leaky_relu(y)
        weight, bias = w(f"transposed.{i}.weight"), w(f"transposed.{i}.bias")
        assert weight.shape[2:] == (k, k)
        y = conv_transpose2d(y, weight, bias, stride=2)
    return y


def gaussian_kl(q: Gauss, p: Gauss) -> Tensor:
    """Σ ln(σ_p/σ_q) + (σ_q² + (μ_q − μ_p)²) / 2σ_p² − ½, one dimension after the other."""
    total = torch.zeros((), dtype=q.mean.dtype)
    for mq, sq, mp, sp in zip(*q, *p, strict=True):
        total = total + (sp / sq).log() + (sq * sq + (mq - mp) * (mq - mp)) / (2 * sp * sp) - 0.5
    return total


def subjective(expected: bool = True, unexpected: bool = True, gamma: float = 1.1) -> Decide:
    """CE or CU, each of which can be switched off."""

    def decide(
        level: int, time: int, kl_static: float, kl_change: float, window: list[float]
    ) -> Verdict:
        threshold = gamma * sum(window) / len(window) if window else math.inf
        ce = expected and kl_static > kl_change
        cu = unexpected and kl_static > threshold
        return Verdict(ce, cu, ce or cu, threshold)

    return decide


def fixed(updates: Callable[[int, int], bool]) -> Decide:
    """Updates known beforehand, from the level and the frame."""

    def decide(
        level: int, time: int, kl_static: float, kl_change: float, window: list[float]
    ) -> Verdict:
        return Verdict(False, False, updates(level, time), math.nan)

    return decide


def algorithm_1(
    model: VPR,
    video: Tensor,
    noise: Tensor | None,
    decide: Decide,
    window: int = 100,
    typical_kl: list[float] | None = None,
) -> Record:
    """A video (T, *frame), noise (T, N, S); `typical_kl` fills the windows of levels 2 to N."""
    blocks = [Level(model, n) for n in range(model.config.levels)]
    top = len(blocks) - 1
    nothing = torch.zeros(model.config.width, dtype=video.dtype)
    memories: list[Memory | None] = [None for _ in blocks]
    windows: list[list[float]] = [[] for _ in blocks]
    if typical_kl is not None:
        for n in range(1, len(blocks)):
            windows[n] = [typical_kl[n - 1]] * window
    record = Record([], [], windows)

    for t in range(len(video)):
        M: list[bool] = []  # noqa: N806
        encodings: list[Tensor] = []
        verdicts: list[tuple[float, float, Verdict]] = []
        not_compared = (math.nan, math.nan, Verdict(False, False, False, math.nan))

        # Event detection (bottom-up)
        x = model.codec.encode(model.codec.to_layout(video[t : t + 1]))[0]
        for n, block in enumerate(blocks):
            x = block.f_enc(x)
            encodings.append(block.compress(x))
            if n == 0 or t == 0:
                M.append(True)
                verdicts.append(not_compared)
                continue
            if not M[n - 1]:
                M.append(False)
                verdicts.append(not_compared)
                continue
            m = memories[n]
            q_st = block.q(encodings[n], m.d, m.c)
            q_ch = block.q(encodings[n], m.d_next, m.c)
            kl_static = gaussian_kl(q_st, m.q).item()
            kl_change = gaussian_kl(q_ch, m.p_ch).item()
            verdict = decide(n + 1, t, kl_static, kl_change, windows[n])
            M.append(verdict.update)
            verdicts.append((kl_static, kl_change, verdict))
            windows[n].append(kl_static)
            if len(windows[n]) > window:
                windows[n].pop(0)

        # Inference (top-down)
        for n in range(top, -1, -1):
            if not M[n]:
                continue
            block = blocks[n]
            c = nothing
            if n < top:
                c = blocks[n + 1].f_dec(memories[n + 1].c, memories[n + 1].s)
            d = nothing
            if t > 0:
                d = memories[n].d_next
            q = block.q(encodings[n], d, c)
            p = block.p(d, c)
            if n == top and t == 0:
                p = Gauss(torch.zeros_like(q.mean), torch.ones_like(q.std))
            s = q.mean
            if noise is not None:
                s = q.mean + q.std * noise[t, n]
            d_next = block.f_tran(s, d)
            memories[n] = Memory(d, c, s, q, p, d_next, block.p(d_next, c))
        record.c0.append(blocks[0].f_dec(memories[0].c, memories[0].s))

        seen = []
        for n in range(len(blocks)):
            m = memories[n]
            kl_static, kl_change, verdict = verdicts[n]
            spent = torch.zeros((), dtype=video.dtype)
            if M[n]:
                spent = gaussian_kl(m.q, m.p)
            seen.append(
                Seen(
                    boundary=M[n],
                    kl_static=kl_static,
                    kl_change=kl_change,
                    threshold=verdict.threshold,
                    expected=verdict.expected,
                    unexpected=verdict.unexpected,
                    s=m.s,
                    q=m.q,
                    p=m.p,
                    kl=spent,
                )
            )
        record.levels.append(seen)
    return record


def negative_elbo(model: VPR, videos: Tensor, records: list[Record], beta: float) -> Tensor:
    """Binary cross entropy plus β times the KLs, in nats per frame, over videos (B, T, *frame)."""
    total = torch.zeros((), dtype=videos.dtype)
    for video, record in zip(videos, records, strict=True):
        for frame, c0, levels in zip(video, record.c0, record.levels, strict=True):
            logit = model.codec.to_frames(model.codec.decode(c0[None]))[0]
            total = total - (frame * logsigmoid(logit) + (1 - frame) * logsigmoid(-logit)).sum()
            for level in levels:
                total = total + beta * level.kl
    return total / (videos.shape[0] * videos.shape[1])
