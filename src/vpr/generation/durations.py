"""How long will it last: at each level from 2 on, the probability that its event ends now."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vpr.config import ModelConfig
from vpr.errors import VPRError
from vpr.generation.event_clock import PAST, Ages
from vpr.nets.dense import Layers
from vpr.state import State

HIDDEN = 16
LONGEST = 32  # ages from here on are one age: the head has no clock for what lasts longer


class Durations(nn.Module):
    """h^n = p(level n updates at the next frame | level n−1 does, and what is known before it).

    The paper names s^n and s^{n+1}: what the event is, and what it is a part of. By themselves
    they tell a rate and no moment, for neither changes while the event lasts. What does:

    age             how often level n−1 updated since level n did, one weight for each count, so
                    that "every fourth" can be said exactly; counted apart where the beginning of
                    the event was not seen, as an age of at least so much
    past            at which of the last ticks level n updated: after an event that was overlooked,
                    or seen where there was none, the next one is due by the rhythm of those before
    d^{n−1}_{τ+1}   what level n−1 predicts its next step from: a ball about to meet the wall
    dreamt          whether all this was imagined: then it is a little off, and less can be sure

    All is known before the next frame; nesting is kept, since h^n is asked only where level n−1
    updates, and then the ticks of its age are that level's updates, whatever time they take.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        if config.levels < 2:
            raise VPRError("a model of one level has no events whose duration could be learned")
        # How many inputs of each head are states; they come first. Above level N there is none.
        self.state_inputs = [2 * config.state_size] * (config.levels - 2) + [config.state_size]
        self.heads = nn.ModuleList(
            Layers(own + config.width + 2 * LONGEST + PAST + 1, HIDDEN, HIDDEN, 1, gain=0.1)
            for own in self.state_inputs
        )

    def forward(self, state: State, ages: Ages) -> Tensor:  # (B, N − 1)
        """h of levels 2 to N."""
        logits = [self.logit(n, x) for n, x in enumerate(self.inputs(state, ages))]
        return torch.stack(logits, -1).sigmoid()

    def logit(self, n: int, x: Tensor) -> Tensor:
        """Log-odds of the n-th head, that of level n + 2, for its inputs (..., I) → (...)."""
        return self.heads[n](x).squeeze(-1)  # type: ignore[no-any-return]

    def inputs(self, state: State, ages: Ages) -> list[Tensor]:
        """What each head is told, (B, I)."""
        blocks = state.blocks
        place = ages.ticks.clamp(max=LONGEST - 1) + LONGEST * ages.seen
        clocks = F.one_hot(place, 2 * LONGEST).to(blocks[0].s).unbind(1)
        dreamt = ages.dreamt.unsqueeze(1).to(blocks[0].s)
        pasts = ages.past.to(blocks[0].s).unbind(1)
        told = []
        for n, (clock, past) in enumerate(zip(clocks, pasts, strict=True), start=1):
            states = (b.s for b in blocks[n : n + 2])
            told.append(torch.cat([*states, blocks[n - 1].d_next, clock, past, dreamt], -1))
        return told
