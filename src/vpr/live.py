"""Algorithm 1 for one video, a frame at a time: plain ifs, and vectors instead of batches.

`VPR.step` computes the same for a batch. With a single frame, batches, modules and gradients cost
more than the products themselves; here they are left out.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vpr.beliefs import Belief, kl
from vpr.block import Block, BlockState, Kept
from vpr.events import Evidence
from vpr.model import VPR
from vpr.networks import SLOPE, GaussianHead, Layers
from vpr.trace import State
from vpr.tree import tree_map


@dataclass(slots=True)
class Memory:
    """One level since its last update: `BlockState`, with both hypotheses one below the other."""

    d: Tensor  # (D,)
    c: Tensor  # (D,)
    s: Tensor  # (S,)
    d_next: Tensor  # (D,)
    p: Belief  # (2, S) p_st, which is the last posterior, and p_ch; level 1 has p_st only
    contexts: Tensor | None  # (2, H) see `Kept`; level 1 has none

    @classmethod
    def of(cls, state: BlockState) -> Memory:
        d, c, s, q, d_next, kept = tree_map(torch.detach, state)
        if kept is None:
            return cls(d[0], c[0], s[0], d_next[0], q, None)
        p = Belief(*(torch.cat(pair) for pair in zip(q, kept.p_ch, strict=True)))
        return cls(d[0], c[0], s[0], d_next[0], p, kept.contexts[0])

    def state(self) -> BlockState:
        q = Belief(self.p.mean[:1], self.p.std[:1])
        kept = None
        if self.contexts is not None:
            kept = Kept(Belief(self.p.mean[1:], self.p.std[1:]), self.contexts[None])
        return BlockState(self.d[None], self.c[None], self.s[None], q, self.d_next[None], kept)


class Level:
    """The networks of a block, on vectors."""

    def __init__(self, block: Block) -> None:
        self.compares = block.compares
        self._f_enc, self._f_dec = Chain(block.f_enc.net), Chain(block.f_dec.net)
        self._compress, self._prior = Chain(block.compress), Gaussian(block.p.head)
        self._posterior = Gaussian(block.q.head)
        self._of_x = block.q.of_x.weight.detach(), block.q.of_x.bias.detach()
        self._of_d, self._of_c = (part.weight.detach() for part in (block.q.of_d, block.q.of_c))
        self._dense = block.f_tran.dense.weight.detach(), block.f_tran.dense.bias.detach()
        self._gru = [weight.detach() for weight in block.f_tran.gru.parameters()]

    def f_enc(self, x: Tensor) -> Tensor:  # (D,) → (D,)
        return self._f_enc(x).add_(x, alpha=0.1)

    def f_dec(self, above: Memory) -> Tensor:  # → (D,)
        return self._f_dec(torch.cat([above.c, above.s])).add_(above.c, alpha=0.1)

    def read(self, x: Tensor) -> Tensor:  # (D,) → (H,)
        weight, bias = self._of_x
        return torch.addmv(bias, weight, self._compress(x))

    def compare(self, now: Memory, x: Tensor) -> Tensor:  # x read (H,) → (2,)
        """D_st and D_ch."""
        assert now.contexts is not None
        return kl(self._posterior(F.leaky_relu_(now.contexts + x, SLOPE)), now.p)

    def update(self, d: Tensor, x: Tensor, c: Tensor) -> Memory:
        from_c = torch.mv(self._of_c, c)
        context = torch.addmv(from_c, self._of_d, d)
        q = self._posterior(F.leaky_relu_(context + x, SLOPE).unsqueeze(0))
        s = q.mean[0]
        d_next = self._f_tran(s, d)
        if not self.compares:
            return Memory(d, c, s, d_next, q, None)
        p_ch = self._prior(torch.cat([d_next, c]).unsqueeze(0))
        changed = torch.addmv(from_c, self._of_d, d_next)
        p = Belief(*(torch.cat(pair) for pair in zip(q, p_ch, strict=True)))
        return Memory(d, c, s, d_next, p, torch.stack([context, changed]))

    def _f_tran(self, s: Tensor, d: Tensor) -> Tensor:
        weight, bias = self._dense
        z = F.leaky_relu_(torch.addmv(bias, weight, s), SLOPE)
        return torch.gru_cell(z.unsqueeze(0), d.unsqueeze(0), *self._gru)[0]


class Chain:
    """`Layers` of a vector."""

    def __init__(self, net: Layers) -> None:
        self.first, *self.others = _weights(net)

    def __call__(self, x: Tensor) -> Tensor:  # (inputs,) → (outputs,)
        weight, bias = self.first
        x = torch.addmv(bias, weight, x)
        for weight, bias in self.others:
            x = torch.addmv(bias, weight, F.leaky_relu_(x, SLOPE))
        return x


class Gaussian:
    """A `GaussianHead` of one or two rows."""

    def __init__(self, head: GaussianHead) -> None:
        self.head = head
        self.first, *self.others = ((weight.t(), bias) for weight, bias in _weights(head.net))

    def __call__(self, x: Tensor) -> Belief:  # (R, inputs) → Belief (R, S)
        weight, bias = self.first
        x = torch.addmm(bias, x, weight)
        for weight, bias in self.others:
            x = torch.addmm(bias, F.leaky_relu_(x, SLOPE), weight)
        return self.head.belief(x)


class Live:
    """A model at work on one video; `state` goes in and out.

    It keeps a copy of the model's weights, and its rule: what becomes of the model later does not
    matter here.
    """

    def __init__(self, model: VPR, state: State) -> None:
        self.rule = model.rule
        self.encode = model.codec.single()
        self.levels = [Level(deepcopy(block)) for block in model.blocks]  # type: ignore[arg-type]
        self.memories = [Memory.of(block) for block in state.blocks]
        self.windows = list(state.windows)
        self.time = int(state.time[0])
        self._row = torch.zeros(1, dtype=torch.long, device=state.time.device)
        unknown = model.usual.new_full((1,), torch.nan)
        self._level_one = Evidence.unasked(torch.ones_like(self._row, dtype=torch.bool), unknown)

    def state(self) -> State:
        blocks = tuple(memory.state() for memory in self.memories)
        return State(blocks, tuple(self.windows), self._row + self.time)

    def step(self, frame: Tensor) -> list[Evidence]:
        """One frame; the evidence of level 1, 2, … as far as the signal went."""
        evidence, x = self._detect(frame)
        self._infer(x)
        self.time += 1
        return evidence

    def _detect(self, frame: Tensor) -> tuple[list[Evidence], list[Tensor]]:
        """Event detection, bottom-up: what was seen, and what the levels that update have read."""
        x = self.levels[0].f_enc(self.encode(frame))
        evidence, read = [self._level_one], [self.levels[0].read(x)]
        for n in range(1, len(self.levels)):
            x = self.levels[n].f_enc(x)
            new = self.levels[n].read(x)
            if self.time > 0:  # at the first frame every level updates
                evidence.append(self._ask(n, new))
                if not evidence[-1].boundary:
                    break
            read.append(new)
        return evidence, read

    def _ask(self, n: int, x: Tensor) -> Evidence:
        window = self.windows[n - 1]
        kl_static, kl_change = self.levels[n].compare(self.memories[n], x).unsqueeze(1)
        usual = window.mean(self.rule.power)
        decision = self.rule.decide(n + 1, self._row + self.time, kl_static, kl_change, usual)
        self.windows[n - 1] = window.push(kl_static, self._row)
        expected, unexpected, boundary, threshold = decision
        return Evidence(kl_static, kl_change, threshold, expected, unexpected, boundary)

    def _infer(self, read: list[Tensor]) -> None:
        """Inference, top-down, of the levels that update."""
        for n in reversed(range(len(read))):
            c = self.memories[n].c
            if n + 1 < len(read):  # the level above has just changed
                c = self.levels[n + 1].f_dec(self.memories[n + 1])
            self.memories[n] = self.levels[n].update(self.memories[n].d_next, read[n], c)


def _weights(net: Layers) -> list[tuple[Tensor, Tensor]]:
    """(out, in) and (out,) of each layer, without gradients."""
    layers: list[nn.Linear] = list(net.layers)  # type: ignore[arg-type]
    return [(layer.weight.detach(), layer.bias.detach()) for layer in layers]
