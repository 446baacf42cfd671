"""The same model fed one frame at a time, in constant memory."""

from __future__ import annotations

import torch
from torch import Tensor

from vpr.boundaries import Boundary, boundaries
from vpr.checks import check_frames
from vpr.errors import VPRError
from vpr.model import VPR
from vpr.trace import State


class Stream:
    """Boundaries as they happen. `state` is all it remembers: keep it, and go on later."""

    def __init__(self, model: VPR, state: State | None = None) -> None:
        self.model = model.eval()
        self.state = state if state is not None else model.initial(1)
        if len(self.state.time) != 1:
            raise VPRError(f"a stream follows one video, the state holds {len(self.state.time)}")

    @torch.no_grad()
    def push(self, frame: Tensor) -> list[Boundary]:
        """One frame, of the model's shape; the boundaries it brings, lowest level first.

        The first frame opens every level's first event: that is no boundary.
        """
        check_frames(frame, (), self.model.config, self.model.usual.dtype)
        number = int(self.state.time[0])
        self.state, evidence = self.model.step(self.state, frame.unsqueeze(0))
        return list(boundaries(evidence, 0, number)) if number else []
