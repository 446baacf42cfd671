"""After training, the top level goes over its events again: nothing but jumps, and many of them.

Of all levels it has the fewest events to learn from, and each costs many frames. But once they have
been seen, they are small: what it believed at each of them. It can go over these again and again
without any frame. Only its transition and its prior learn, and no label takes part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.rnn import pad_sequence

from vpr.batches import Batches
from vpr.beliefs import Belief, kl
from vpr.block import Block
from vpr.errors import VPRError
from vpr.events import Evidence, Rule, Subjective
from vpr.foresight import lead
from vpr.model import VPR
from vpr.tree import tree_map

RATE = 3e-4  # of Adam at first; it falls to 0
BATCH, WINDOW = 96, 12  # sequences of a step, and events of each
CLIP = 10.0  # nats an event


class Events(NamedTuple):
    """What the top level believed at its events, one sequence a row, filled up to the longest.

    Those which only CU speaks for are left out, see `_foreseeable`.
    """

    q: Belief  # (M, K, S)
    total: Tensor  # (M,) how many are no filling

    def of(self, rows: Tensor) -> Events:
        return tree_map(lambda each: each[rows], self)


GoOn = Callable[[int], bool]  # is told how many steps are done; False stops it all


@torch.no_grad()
def gather(
    model: VPR,
    batches: Batches,
    sequences: int,
    length: int,
    parts: int,
    at_once: int,
    go_on: GoOn = lambda step: True,
) -> Events | None:
    """Watch fresh sequences, so many `parts` of `length` frames each; None if stopped."""
    means: list[Tensor] = []
    stds: list[Tensor] = []
    for start in range(0, sequences, at_once):
        rows, state, told = min(at_once, sequences - start), None, []
        for _ in range(parts):
            trace = model.observe(batches.next(rows, length, parts).to(model.usual), state)
            state, top = trace.state, trace.levels[-1]
            told.append((*top.q, _foreseeable(top.evidence, model.rule)))
            if not go_on(0):
                return None
        mean, std, chosen = (torch.cat(each, 1) for each in zip(*told, strict=True))
        means += [own[when] for own, when in zip(mean, chosen, strict=True)]
        stds += [own[when] for own, when in zip(std, chosen, strict=True)]
    total = torch.tensor([len(each) for each in means], device=model.usual.device)
    q = Belief(pad_sequence(means, batch_first=True), pad_sequence(stds, True, padding_value=1.0))
    return Events(q, total)


def _foreseeable(evidence: Evidence, rule: Rule) -> Tensor:  # (B, T)
    """Updates, but for those which only CU speaks for: the unchanged state fits them better.

    Of what 3DSD's level 3 takes for an event and is none, about half is like this, and hardly any
    of the real ones. A level that rehearsed these too would learn to hesitate.
    """
    if not isinstance(rule, Subjective) or not rule.expected:
        return evidence.boundary  # CE has no say
    return evidence.boundary & (evidence.expected | ~evidence.unexpected)


def rehearse(
    model: VPR,
    events: Events,
    steps: int,
    generator: torch.Generator,
    go_on: GoOn = lambda step: True,
) -> bool:
    """So many steps of Adam on Σ_τ D_KL(q_τ ‖ p_τ) + D_KL(q_τ ‖ p̃_τ) of the top level.

    p_τ foresees the next event as in the ELBO, from s ~ q; p̃_τ is where its own jumps lead, as in
    `vpr.foresight`. True if nobody stopped it.
    """
    block: Block = model.blocks[-1]  # type: ignore[assignment]
    learning = [*block.f_tran.parameters(), *block.p.parameters()]
    optimiser = torch.optim.Adam(learning, lr=RATE)
    longest, place = events.q.mean.shape[1], math.inf
    for step in range(steps):
        if place >= longest:  # other sequences, from their beginning
            rows = torch.randperm(len(events.total), generator=generator)[:BATCH]
            chosen, place = events.of(rows.to(events.total.device)), 0
            led = seen = model.usual.new_zeros(len(rows), block.width)
        for group in optimiser.param_groups:
            group["lr"] = RATE * 0.5 * (1 + math.cos(math.pi * step / steps))
        loss, led, seen = _window(block, chosen, int(place), led, seen, generator)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norm = float(clip_grad_norm_(learning, CLIP))
        if not math.isfinite(norm):
            raise VPRError(
                f"the gradient is {norm} at step {step + 1} of rehearsal: stopped, the run without "
                "it is intact; lower training.learning-rate and start in a new folder"
            )
        optimiser.step()
        place += WINDOW
        if not go_on(step + 1):
            return False
    return True


def _window(
    block: Block, events: Events, start: int, led: Tensor, seen: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """The loss of some events on from `start`, and both d (B, D) after them.

    `led`: where jumps have led before; `seen`: where what was really seen has.
    """
    q = Belief(*(each[:, start : start + WINDOW] for each in events.q))
    noise = torch.randn(q.mean.shape, generator=generator, dtype=q.mean.dtype)
    s, count = q.rsample(noise.to(q.mean.device)), events.total - start
    nothing = led.new_zeros(*s.shape[:2], block.width)  # there is nobody above the top
    astray, led = lead(block, led, nothing, s, q, count)
    surprise, seen = _foreseen(block, seen, s, q, count)
    return (astray + surprise) / (len(s) * WINDOW), led, seen


def _foreseen(
    block: Block, d: Tensor, s: Tensor, q: Belief, count: Tensor
) -> tuple[Tensor, Tensor]:  # (), (B, D)
    """Σ D_KL(q ‖ p) of jumps that each begin at what was really seen."""
    opening, surprise = (d == 0).all(1), []
    nothing = torch.zeros_like(d)
    for k in range(s.shape[1]):
        here = k < count
        apart = kl(Belief(q.mean[:, k], q.std[:, k]), block.p(d, nothing))
        surprise.append(torch.where(here & ~opening, apart, 0.0).sum())
        d, opening = block.f_tran(s[:, k], d), torch.zeros_like(opening)
    return torch.stack(surprise).sum(), d.detach()
