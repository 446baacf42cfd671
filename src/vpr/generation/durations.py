"""The duration of events: for each level from 2 on, the probability that its event ends now."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vpr.config import ModelConfig
from vpr.errors import VPRError
from vpr.generation.event_clock import HISTORY, EventClock
from vpr.nets.dense import Layers
from vpr.state import State

HIDDEN = 16
MAX_AGE = 32  # higher ages are treated as this one


class Durations(nn.Module):
    """h^n = p(level n updates at the next frame | level n−1 does, and the past).

    The paper conditions on s^n and s^{n+1}. They are constant during an event, so by themselves
    they determine a rate but not a moment. Further inputs are

    age             the number of updates of level n−1 since the last update of level n, one weight
                    per count, so that "every fourth" can be represented exactly; counted separately
                    if the beginning of the event was not observed, when it is a lower bound
    past            whether level n updated at each of the last ticks: after a missed or a false
                    event, the rhythm of the previous events indicates the next one
    d^{n−1}_{τ+1}   the context from which level n−1 predicts its next step, for instance of a ball
                    that is about to hit the wall
    imagined        whether the state was imagined, in which case it is less reliable

    All inputs are known before the next frame. h^n is used only at frames at which level n−1
    updates, which keeps the levels nested.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        if config.levels < 2:
            raise VPRError("a model of one level has no events whose duration could be learned")
        # Number of inputs of each head that are states; they come first. Level N has no s^{n+1}.
        self.state_inputs = [2 * config.state_size] * (config.levels - 2) + [config.state_size]
        self.heads = nn.ModuleList(
            Layers(own + config.width + 2 * MAX_AGE + HISTORY + 1, HIDDEN, HIDDEN, 1, gain=0.1)
            for own in self.state_inputs
        )

    def forward(self, state: State, clock: EventClock) -> Tensor:  # (B, N − 1)
        """h of levels 2 to N."""
        logits = [self.logit(n, x) for n, x in enumerate(self.inputs(state, clock))]
        return torch.stack(logits, -1).sigmoid()

    def logit(self, n: int, x: Tensor) -> Tensor:
        """The logit of the n-th head, for level n + 2: (..., I) → (...)."""
        return self.heads[n](x).squeeze(-1)  # type: ignore[no-any-return]

    def inputs(self, state: State, clock: EventClock) -> list[Tensor]:
        """The inputs (B, I) of each head."""
        blocks = state.blocks
        place = clock.ticks.clamp(max=MAX_AGE - 1) + MAX_AGE * clock.seen
        ages = F.one_hot(place, 2 * MAX_AGE).to(blocks[0].s).unbind(1)
        imagined = clock.imagined.unsqueeze(1).to(blocks[0].s)
        pasts = clock.past.to(blocks[0].s).unbind(1)
        inputs = []
        for n, (age, past) in enumerate(zip(ages, pasts, strict=True), start=1):
            states = (b.s for b in blocks[n : n + 2])
            inputs.append(torch.cat([*states, blocks[n - 1].d_next, age, past, imagined], -1))
        return inputs
