"""The same model fed one frame at a time, in constant memory."""

from __future__ import annotations

import torch
from torch import Tensor

from vpr.boundaries import Boundary, boundaries
from vpr.errors import VPRError
from vpr.events import Evidence
from vpr.live import Live
from vpr.model import VPR
from vpr.state import State
from vpr.utils.checks import check_frames, check_values
from vpr.utils.tree import tree_map


class Stream:
    """Boundaries as they happen. `state` is all it remembers: keep it, and go on later.

    It works with a copy of the model's weights and with its rule, as they are now. `evidence` is
    what level 1, 2, … saw in the last frame, as far as the signal went.
    """

    def __init__(self, model: VPR, state: State | None = None) -> None:
        self.config, self.dtype = model.config, model.usual.dtype
        state = state if state is not None else model.initial(1)
        if len(state.time) != 1:
            raise VPRError(f"a stream follows one video, the state holds {len(state.time)}")
        self.evidence: list[Evidence] = []
        with torch.inference_mode():
            self._live = Live(model, state)

    @property
    def state(self) -> State:
        with torch.inference_mode(False):  # its own tensors are good for nothing but inference
            return tree_map(torch.clone, self._live.state())

    @torch.inference_mode()
    def push(self, frame: Tensor) -> list[Boundary]:
        """One frame, of the model's shape; the boundaries it brings, lowest level first.

        The first frame opens every level's first event: that is no boundary.
        """
        check_frames(frame, (), self.config, self.dtype)
        check_values(frame, self.config)
        number = self._live.time
        self.evidence = self._live.step(frame)
        return list(boundaries(self.evidence, 0, number)) if number else []
