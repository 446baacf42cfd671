"""Algorithm 1 for one video, a frame at a time, with plain ifs.

`VPR.step` computes the same for a batch. With a single frame, batches, modules and gradients cost
more than the products themselves; here they are left out.
"""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import Tensor

from vpr.events import Evidence
from vpr.fast.inference_block import LeanBlock
from vpr.model import VPR, Encodings, LazyEncodings
from vpr.state import State
from vpr.utils.tree import tree_map


class Live:
    """A model at work on one video; `state` goes in and out.

    It keeps a copy of the model's weights, and its rule: what becomes of the model later does not
    matter here.
    """

    def __init__(self, model: VPR, state: State, lowest: int = 1) -> None:
        """`lowest` 2 leaves level 1 as it is: it decides nothing, and costs most of a frame."""
        self.rule, self.lowest = model.rule, lowest
        self.encode = model.codec.single()
        self.nets = [deepcopy(LeanBlock(block)) for block in model.blocks]  # type: ignore[arg-type]
        self.blocks = list(tree_map(torch.detach, state.blocks))
        self.windows = list(state.windows)
        self.time = int(state.time[0])
        self._row = torch.zeros_like(state.time)  # the only one
        unknown = model.usual.new_full((1,), torch.nan)
        self._level_one = Evidence.unasked(torch.ones_like(self._row, dtype=torch.bool), unknown)

    def state(self) -> State:
        return State(tuple(self.blocks), tuple(self.windows), self._row + self.time)

    def step(self, frame: Tensor) -> list[Evidence]:
        """One frame; the evidence of level 1, 2, … as far as the signal went."""
        return self.advance(LazyEncodings(self.nets, [self.encode(frame).unsqueeze(0)]))

    def advance(self, x: Encodings) -> list[Evidence]:
        """One frame, by what each level reads of it (1, H)."""
        evidence, updating = self._detect(x)
        self._infer(x, updating)
        self.time += 1
        return evidence

    def _detect(self, x: Encodings) -> tuple[list[Evidence], int]:
        """Event detection, bottom-up: what was seen, and how many levels update."""
        if self.time == 0:  # every level updates
            return [self._level_one], len(self.nets)
        evidence, updating = self._ask_from(1, x)
        return [self._level_one, *evidence], updating

    def _ask_from(self, first: int, x: Encodings) -> tuple[list[Evidence], int]:
        """The same, of nets `first` and above, as far as the signal goes."""
        evidence: list[Evidence] = []
        for n in range(first, len(self.nets)):
            evidence.append(self._ask(n, x(n)))
            if not evidence[-1].boundary:
                return evidence, n
        return evidence, len(self.nets)

    def _ask(self, n: int, x: Tensor) -> Evidence:
        window = self.windows[n - 1]
        kl_static, kl_change = self.nets[n].compare(self.blocks[n], x)
        usual = window.mean(self.rule.power)
        self.windows[n - 1] = window.push(kl_static, self._row)
        decision = self.rule.decide(n + 1, self._row + self.time, kl_static, kl_change, usual)
        return decision.evidence(kl_static, kl_change)

    def _infer(self, x: Encodings, updating: int) -> None:
        """Inference, top-down, of the levels that update."""
        for n in reversed(range(self.lowest - 1, updating)):
            c = self.blocks[n].c
            if n + 1 < updating:  # the level above has just changed
                above = self.blocks[n + 1]
                c = self.nets[n + 1].f_dec(above.c, above.s)
            self.blocks[n] = self.nets[n].update(self.blocks[n].d_next, x(n), c, None)
