"""The model applied to one video, one frame or one chunk of frames at a time, in constant memory.

`Detector` is Algorithm 1 for a single video. `VPR.step` computes the same for a batch; for a single
frame, batches, modules and gradients would cost more than the matrix products. `Stream` is the
public interface for one frame at a time.
"""

from __future__ import annotations

import math
from copy import deepcopy
from typing import NamedTuple

import torch
from torch import Tensor

from vpr.block import InferenceBlock
from vpr.errors import VPRError
from vpr.events import Boundary, LevelEvidence, Window, boundaries
from vpr.model import VPR, Encodings, LazyEncodings, Nets
from vpr.state import State
from vpr.utils.checks import check_frames, check_values
from vpr.utils.tree import tree_map

LOOKAHEAD = 8  # frames compared at once; comparisons after an update have to be repeated
LEVEL_ONE = LevelEvidence(math.nan, math.nan, math.nan, False, False, True)  # always updates


class Stream:
    """Detects boundaries in one video, frame by frame.

    The stream uses a copy of the model's weights and rule. `evidence` holds the comparisons of the
    last frame: of level 1, 2, … up to the first level that did not update. `state` is everything
    that the stream stores about the past. Pass it to a new stream to continue, or use
    `vpr.stream_file.save_state` and continue with `Stream(model, load_state(path, model))`.
    """

    def __init__(self, model: VPR, state: State | None = None) -> None:
        self.config, self.dtype = model.config, model.dtype
        state = state if state is not None else model.initial(1)
        if len(state.time) != 1:
            raise VPRError(f"a stream processes one video, but the state is of {len(state.time)}")
        self.evidence: list[LevelEvidence] = []
        with torch.inference_mode():
            self._encode = model.codec.single_frame_encoder()
            self._detector = Detector(model, state)

    @property
    def state(self) -> State:
        with torch.inference_mode(False):  # ordinary tensors, which can be used in training
            return tree_map(torch.clone, self._detector.state())

    @torch.inference_mode()
    def push(self, frame: Tensor) -> list[Boundary]:
        """Process one frame of the model's shape; its boundaries, lowest level first.

        At the first frame every level starts its first event, which does not count as a boundary.
        """
        check_frames(frame, (), self.config, self.dtype)
        check_values(frame, self.config)
        number = self._detector.time
        (self.evidence,) = self._detector.process(self._encode(frame).unsqueeze(0))
        return list(boundaries(self.evidence, number))


class Detector:
    """Algorithm 1 for one video, by chunks of encoded frames of any length.

    The belief of level 2 changes only when level 2 updates. Up to its next update, its comparisons
    do not depend on each other, so up to `LOOKAHEAD` frames of a chunk are compared at once.

    With `level_one=False`, level 1 is left unchanged: it makes no decisions, and updating it takes
    most of the time per frame.
    """

    def __init__(self, model: VPR, state: State, *, level_one: bool = True) -> None:
        self.rule, self.level_one = model.rule, level_one
        self.nets = [deepcopy(InferenceBlock(block)) for block in model.levels()]
        self.blocks = list(tree_map(torch.detach, state.blocks))
        self.windows = [SingleWindow(window) for window in state.windows]
        self.time = int(state.time[0])

    def state(self) -> State:
        time = torch.tensor([self.time], device=self.blocks[0].s.device)
        return State(tuple(self.blocks), tuple(each.window() for each in self.windows), time)

    def process(self, x0: Tensor) -> list[list[LevelEvidence]]:
        """Process the next frames, encoded as x⁰ (K, D).

        Returns for each frame the evidence of level 1, 2, … up to the first level that does not
        update; at the first frame of the video, where nothing is compared, of level 1 only.
        """
        chunk = _ChunkEncodings.of(self.nets, x0)
        found: list[list[LevelEvidence]] = []
        if self.time == 0:
            self._infer(chunk.at(0), len(self.nets))
            self.time = 1
            found.append([LEVEL_ONE])
        while len(found) < len(x0):
            for evidence in self._compare_level_two(chunk, len(found)):
                found.append(self._advance(chunk, len(found), evidence))
        return found

    def _compare_level_two(self, chunk: _ChunkEncodings, start: int) -> list[list[LevelEvidence]]:
        """Evidence of levels 1 and 2 for frames from `start` up to the next update of level 2."""
        if chunk.projected is None:  # there is no level 2
            return [[LEVEL_ONE] for _ in chunk.x[0][start:]]
        second = self._compare(1, chunk.projected[start : start + LOOKAHEAD])
        return [[LEVEL_ONE, evidence] for evidence in second]

    def _advance(
        self, chunk: _ChunkEncodings, place: int, evidence: list[LevelEvidence]
    ) -> list[LevelEvidence]:
        """One frame: detection in levels 3 to N, bottom-up, then inference, top-down."""
        if self.level_one or evidence[-1].boundary:
            x = chunk.at(place)
            while evidence[-1].boundary and len(evidence) < len(self.nets):
                evidence += self._compare(len(evidence), x(len(evidence)))
            self._infer(x, len(evidence) if evidence[-1].boundary else len(evidence) - 1)
        self.time += 1
        return evidence

    def _compare(self, n: int, x: Tensor) -> list[LevelEvidence]:
        """Event detection at index n for the next frames, projected (R, H), up to an update."""
        kl_static, kl_change = self.nets[n].compare(self.blocks[n], x)
        window = self.windows[n - 1]
        time = torch.arange(self.time, self.time + len(x), device=x.device)
        mean_kl = window.means(kl_static)  # before each frame
        decision = self.rule.decide(n + 1, time, kl_static, kl_change, mean_kl)
        evidence = LevelEvidence.rows(decision.evidence(kl_static, kl_change))
        update = next((i for i, found in enumerate(evidence) if found.boundary), len(evidence) - 1)
        window.push(kl_static[: update + 1])
        return evidence[: update + 1]

    def _infer(self, x: Encodings, updating: int) -> None:
        """Inference, top-down, of the lowest `updating` levels."""
        lowest = 0 if self.level_one else 1
        for n in reversed(range(lowest, updating)):
            c = self.blocks[n].c
            if n + 1 < updating:  # the level above has just changed
                above = self.blocks[n + 1]
                c = self.nets[n + 1].f_dec(above.c, above.s)
            self.blocks[n] = self.nets[n].update(self.blocks[n].d_next, x(n), c, None)


class _ChunkEncodings(NamedTuple):
    """The encodings that are needed at every frame, for all frames of a chunk."""

    nets: Nets
    x: tuple[Tensor, ...]  # x⁰, x¹, x² (K, D)
    projected: Tensor | None  # (K, H) of level 2, if there is one

    @classmethod
    def of(cls, nets: Nets, x0: Tensor) -> _ChunkEncodings:
        x1 = nets[0].f_enc(x0)
        if len(nets) == 1:
            return cls(nets, (x0, x1), None)
        x2 = nets[1].f_enc(x1)
        return cls(nets, (x0, x1, x2), nets[1].project(x2))

    def at(self, place: int) -> LazyEncodings:
        """The encodings of one frame; encodings of other levels are computed when needed."""
        x, projected = self.x, self.projected
        if len(x[0]) > 1:
            x = tuple(each[place : place + 1] for each in x)
            projected = None if projected is None else projected[place : place + 1]
        return LazyEncodings(self.nets, list(x), {} if projected is None else {1: projected})


class SingleWindow:
    """A copy of a `Window` of one sequence, changed in place; `pushed` is a plain number.

    Plain version: `vpr.events.Window`, compared in tests/test_single_window.py.
    """

    def __init__(self, window: Window) -> None:
        self.values, self.pushed = window.values.clone(), int(window.pushed)

    def window(self) -> Window:
        pushed = torch.tensor([self.pushed], device=self.values.device)
        return Window(self.values.clone(), pushed)

    def means(self, values: Tensor) -> Tensor:  # (R,) → (R,)
        """The mean before each of `values`, if they were pushed one after the other."""
        if len(values) > 1:
            return self.window().after_each(values).mean()[:-1]
        filled = min(self.pushed, self.values.shape[1])
        return self.values.sum(1) / filled if filled else self.values.new_tensor([math.inf])

    def push(self, values: Tensor) -> None:  # (R,)
        size = self.values.shape[1]
        self.pushed += len(values)
        values = values[-size:]
        start = (self.pushed - len(values)) % size
        fitting = min(len(values), size - start)
        self.values[0, start : start + fitting] = values[:fitting]
        if fitting < len(values):
            self.values[0, : len(values) - fitting] = values[fitting:]
