"""`FastRollout` for one sequence on the CPU, in numpy.

A step of one sequence reads 1 MB of weights and makes two dozen calls on tiny arrays; both take
longer in PyTorch. All arrays are allocated once, so each step repeats the same calls with the same
arguments. Biases are stored as the last row of the weights, and inputs end with a one.

Plain version: `Prior` and `Transition`, compared in tests/fast/test_fast_rollout.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.fast.blas import block_count, max_weights, numpy_blas
from vpr.fast.rollout_weights import Layer, RolloutWeights
from vpr.nets.dense import SLOPE

Array = NDArray[Any]
Call = Callable[[], object]
MAX_WEIGHTS = max_weights(numpy_blas())


class NumpyRollout:
    def __init__(self, w: RolloutWeights) -> None:
        size, width, like = len(w.to_dense), len(w.first.weight), w.to_dense
        self.size, self.min_std, self.to_dense = size, w.min_std, w.to_dense.numpy()
        at_d, at_h, at_x = (_input(length, like) for length in (width, width, size))
        self.d = at_d[:-1]
        from_d, out = _product(at_d, w.of_d, w.first)
        of_d, h = out[: 3 * width], out[3 * width :]
        self.predict = [from_d]  # from d to the output of the prior
        for layer in (*w.hidden, w.last):
            product, out = _product(at_h, layer)
            self.predict += [*_leaky_relu(h, at_h[:-1]), product]
            h = out
        self.output = out
        self.dense = out[2 * size :]  # of f_tran, applied to the mean or to a sample
        product, of_x = _product(at_x, w.of_x)
        move = [*_leaky_relu(self.dense, at_x[:-1]), product, *_gru(of_x, of_d, self.d)]
        self.move = move  # from the dense layer to the next d

    def run(self, d: Tensor, steps: int, noise: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """See `BatchRollout.run`."""
        results, now, then = d.new_zeros(steps + 1, 1, 4 * self.size), d.clone(), d.clone()
        self.d[:] = d[0].numpy()
        with np.errstate(all="ignore"):  # overflow is silent, as in PyTorch
            for k, row in enumerate(results.numpy()[:, 0]):
                for call in self.predict:
                    call()
                row[: 3 * self.size] = self.output
                if k == steps:
                    break
                if noise is not None:
                    self._sample(noise[k, 0].numpy(), row[3 * self.size :])
                if k + 1 == steps:
                    now.numpy()[:] = self.d
                for call in self.move:
                    call()
        then.numpy()[:] = self.d
        return results, now, then

    def _sample(self, noise: Array, s: Array) -> None:
        """Write a sample to s (S,), and correct the dense layer of f_tran for it."""
        mean, raw, dense = np.split(self.output, 3)
        shift = (np.logaddexp(raw, 0 * raw) + self.min_std) * noise
        np.add(mean, shift, s)
        dense += self.to_dense @ shift


def _leaky_relu(x: Array, out: Array) -> list[Call]:
    slope = np.array(SLOPE, x.dtype)
    return [partial(np.multiply, x, slope, out), partial(np.maximum, x, out, out=out)]


def _gru(from_x: Array, from_d: Array, d: Array) -> list[Call]:
    """The GRU cell of PyTorch after its two products (3·D,); overwrites d (D,) with the next d."""
    width, half = len(d), np.array(0.5, d.dtype)
    gates, d_new = from_d[: 2 * width], from_d[2 * width :]
    x_gates, new = from_x[: 2 * width], from_x[2 * width :]
    reset, keep = gates[:width], gates[width:]
    return [
        partial(np.add, gates, x_gates, gates),
        partial(np.multiply, gates, half, gates),  # σ(a) = ½·tanh(½·a) + ½
        partial(np.tanh, gates, gates),
        partial(np.multiply, gates, half, gates),
        partial(np.add, gates, half, gates),
        partial(np.multiply, reset, d_new, d_new),
        partial(np.add, new, d_new, new),
        partial(np.tanh, new, new),
        partial(np.subtract, d, new, d),
        partial(np.multiply, d, keep, d),
        partial(np.add, d, new, d),
    ]


def _product(x: Array, *layers: Layer) -> tuple[Call, Array]:
    """A call that applies the layers to x (in + 1,), and the array (out,) it writes to.

    The weights are cut into blocks, over which numpy loops: its BLAS gets one block at a time.
    """
    outs = sum(len(layer.weight) for layer in layers)
    weights, begin = _empty(len(x), outs, like=layers[0].weight), 0
    for weight, bias in layers:
        part = weights[:, begin : begin + len(weight)]
        part[:-1], part[-1] = weight.numpy().T, bias.numpy()
        begin += len(weight)
    blocks = block_count(outs, len(x), MAX_WEIGHTS)
    cut = np.ascontiguousarray(weights.reshape(len(x), blocks, -1).swapaxes(0, 1))
    out = _empty(outs, like=layers[0].weight)
    return partial(np.matmul, x, cut, out.reshape(blocks, -1)), out


def _input(size: int, like: Tensor) -> Array:
    """An array for a vector, followed by a one."""
    x = _empty(size + 1, like=like)
    x[-1] = 1
    return x


def _empty(*shape: int, like: Tensor) -> Array:
    """Allocated by PyTorch, whose memory is aligned, so that all steps round alike."""
    return torch.empty(shape, dtype=like.dtype).numpy()
