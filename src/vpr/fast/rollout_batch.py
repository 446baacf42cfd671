"""`FastRollout` for several sequences, or for devices other than the CPU, in PyTorch.

Weights are stored in the order in which products are fastest, and results are written where they
are needed.

Plain version: `Prior` and `Transition`, compared in tests/fast/test_fast_rollout.py.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from vpr.fast.rollout_weights import Layer, RolloutWeights
from vpr.nets.dense import SLOPE

LINE = 16  # floats: the rows of all steps have the same alignment, so their products round alike


class BatchRollout:
    def __init__(self, w: RolloutWeights) -> None:
        bias = torch.cat([w.of_d.bias.expand(len(w.first.bias), -1), w.first.bias], 1)
        self.from_d = Layer(_column_major(w.of_d.weight, w.first.weight), bias)
        self.hidden = [Layer(_column_major(weight), bias) for weight, bias in w.hidden]
        self.last = Layer(_column_major(w.last.weight), w.last.bias)
        self.of_x = Layer(_column_major(w.of_x.weight), w.of_x.bias)
        self.to_dense, self.min_std, self.size = w.to_dense, w.min_std, len(w.to_dense)

    def run(self, d: Tensor, steps: int, noise: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """K steps from d (B, D).

        Returns the mean, the raw σ, the dense layer of f_tran and the samples (K + 1, B, 4·S), then
        the last d and the next one. The last row is the prediction after K steps, of which no
        sample is drawn.
        """
        with torch.inference_mode():
            results = self._run(d, steps, noise)
        outputs, now, then = (each.clone() for each in results)  # ordinary tensors
        return outputs, now, then

    def _run(self, d: Tensor, steps: int, noise: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        (rows, width), size = d.shape, self.size
        results = d.new_zeros(steps + 1, rows, -(-4 * size // LINE) * LINE)[..., : 4 * size]
        outputs, (dense, samples) = results[..., : 3 * size], torch.split(results, size, -1)[2:]
        of_d, of_x = d.new_empty(rows, 4 * width), d.new_empty(rows, 3 * width)
        gates, from_d, first = torch.split(of_d, [2 * width, width, width], -1)
        x_gates, new = torch.split(of_x, [2 * width, width], -1)
        reset, keep = gates.chunk(2, -1)
        layers = [(layer, torch.empty_like(d)) for layer in self.hidden]
        now, then = torch.empty_like(d), d.clone()
        for k, (output, x) in enumerate(zip(outputs, dense, strict=True)):
            _product(self.from_d, then, of_d)
            h = first
            for layer, after in layers:
                h = _product(layer, F.leaky_relu_(h, SLOPE), after)
            _product(self.last, F.leaky_relu_(h, SLOPE), output)
            if k == steps:
                break
            now, then = then, now
            if noise is not None:
                x = self._sample(output, noise[k], samples[k])
            _product(self.of_x, F.leaky_relu_(x, SLOPE), of_x)
            torch.sigmoid_(gates.add_(x_gates))
            torch.tanh_(new.addcmul_(reset, from_d))
            torch.lerp(new, now, keep, out=then)
        return results, now, then

    def _sample(self, output: Tensor, noise: Tensor, s: Tensor) -> Tensor:
        """Write a sample to s (B, S); returns the dense layer of f_tran applied to it."""
        mean, raw, dense = torch.split(output, self.size, -1)
        shift = F.softplus(raw).add_(self.min_std).mul_(noise)
        torch.add(mean, shift, out=s)
        return torch.add(dense, shift @ self.to_dense.t())


def _column_major(*weights: Tensor) -> Tensor:
    """Weights (out, in), concatenated along `out`, with the columns contiguous in memory."""
    return torch.cat([weight.t() for weight in weights], 1).t()


def _product(layer: Layer, x: Tensor, out: Tensor) -> Tensor:
    return torch.addmm(layer.bias, x, layer.weight.t(), out=out)
