"""After training, the top level goes over its events again: nothing but jumps, and many of them.

Of all levels it has the fewest events to learn from, and each costs many frames. But once they have
been seen, they are small: what it believed at each of them. It can go over these again and again
without any frame. Only its transition and its prior learn, and no label takes part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

import torch
import torch.nn.functional as F
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
from vpr.networks import Transition
from vpr.tree import tree_map

RATE = 1e-3  # of Adam at first; it falls to 0
BATCH, WINDOW = 96, 24  # sequences of a step, and events of each
CLIP = 10.0  # of the gradient, the loss counted an event


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


class Paths(NamedTuple):
    """Temporal contexts d_{τ+1} (B, D) after the same events."""

    led: Tensor  # where the level's own jumps lead, see `vpr.foresight`
    seen: Tensor  # where what was really seen does
    old: Tensor  # where that led before rehearsal


def rehearse(
    model: VPR,
    events: Events,
    steps: int,
    generator: torch.Generator,
    go_on: GoOn = lambda step: True,
) -> bool:
    """So many steps of Adam on Σ_τ D_KL(q_τ ‖ p_τ) + D_KL(q_τ ‖ p̃_τ) + ‖W_d (d_τ − d°_τ)‖².

    p_τ foresees the top level's next event as in the ELBO, from s ~ q; p̃_τ is where its own jumps
    lead, as in `vpr.foresight`. The posterior hears of the past by W_d and does not learn here: so
    what it hears stays what d° was, which f_tran made of the same events before. Otherwise the
    level would jump better and see worse. True if nobody stopped it.
    """
    block: Block = model.blocks[-1]  # type: ignore[assignment]
    old_tran = deepcopy(block.f_tran).requires_grad_(False)
    learning = [*block.f_tran.parameters(), *block.p.parameters()]
    optimiser = torch.optim.Adam(learning, lr=RATE)
    longest, place = events.q.mean.shape[1], math.inf
    for step in range(steps):
        if place >= longest:  # other sequences, from their beginning
            rows = torch.randperm(len(events.total), generator=generator)[:BATCH]
            chosen, place = events.of(rows.to(events.total.device)), 0
            paths = Paths(*[model.usual.new_zeros(len(rows), block.width)] * 3)
        for group in optimiser.param_groups:
            group["lr"] = RATE * 0.5 * (1 + math.cos(math.pi * step / steps))
        loss, paths = _window(block, old_tran, chosen, int(place), paths, generator)
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
    block: Block,
    old_tran: Transition,
    events: Events,
    start: int,
    paths: Paths,
    generator: torch.Generator,
) -> tuple[Tensor, Paths]:
    """The loss of some events on from `start`, and the contexts after them.

    `old_tran` is f_tran as it was before rehearsal.
    """
    q = Belief(*(each[:, start : start + WINDOW] for each in events.q))
    noise = torch.randn(q.mean.shape, generator=generator, dtype=q.mean.dtype)
    s, count = q.rsample(noise.to(q.mean.device)), events.total - start
    here = torch.arange(s.shape[1], device=s.device) < count.unsqueeze(1)  # (B, K)
    nothing = paths.led.new_zeros(*s.shape[:2], block.width)  # there is nobody above the top
    astray, led = lead(block, paths.led, nothing, s, q, count)
    seen = _contexts(block.f_tran, paths.seen, s)
    old = _contexts(old_tran, paths.old, s)
    loss = astray + _surprise(block, paths.seen, seen, q, here) + _moved(block, seen, old, here)
    return loss / (len(s) * WINDOW), Paths(led, seen[:, -1].detach(), old[:, -1])


def _surprise(block: Block, d: Tensor, after: Tensor, q: Belief, here: Tensor) -> Tensor:  # ()
    """Σ D_KL(q ‖ p) of jumps that each begin at what was really seen.

    From d (B, D) on, `after` (B, K, D) the events; q (B, K, S) where they are `here` (B, K).
    """
    known = torch.cat([d.unsqueeze(1), after[:, :-1]], 1)
    begun = torch.cat([(d != 0).any(1, keepdim=True), here[:, :-1]], 1)  # none foresees the first
    apart = kl(q, block.p(known, torch.zeros_like(known)))
    return torch.where(here & begun, apart, 0.0).sum()


def _moved(block: Block, seen: Tensor, old: Tensor, here: Tensor) -> Tensor:  # ()
    """Σ ‖W_d (d − d°)‖² of contexts (B, K, D) after the same events, where they are `here`."""
    heard = F.linear(seen - old, block.q.of_d.weight.detach())
    return torch.where(here, heard.square().sum(-1), 0.0).sum()


def _contexts(f_tran: Transition, d: Tensor, s: Tensor) -> Tensor:  # (B, K, D)
    """d_{τ+1} after each of the states s (B, K, S), from d (B, D) on."""
    found = []
    for each in s.unbind(1):
        d = f_tran(each, d)
        found.append(d)
    return torch.stack(found, 1)
