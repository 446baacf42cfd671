"""Durations learned from the boundaries that the model itself detects; the model stays as it is."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from vpr.data import Dataset, training_rng
from vpr.errors import VPRError
from vpr.evaluation.evaluate import CHUNK, check_request
from vpr.generation.durations import Durations
from vpr.generation.event_clock import Ages
from vpr.generation.imagine import dream
from vpr.model import VPR
from vpr.nets.dense import Layers
from vpr.state import State
from vpr.utils.tree import tree_put, tree_rows

STEPS, BATCH, RATE, DECAY = 6000, 512, 1e-2, 0.1  # of AdamW, for each head
BLUR = 0.5  # σ of the noise on s^n and s^{n+1} while a head learns, whatever their own σ
ASLEEP = 12  # most frames that a dream goes on before it is woken


class Examples(NamedTuple):
    """Of one level: the moments at which it could have updated, since the level below did."""

    inputs: Tensor  # (M, I) what was known before the frame
    changed: Tensor  # (M,) whether the level updated at it


def fit_durations(
    model: VPR, data: Dataset, *, sequences: int = 2048, length: int = 50, seed: int = 0
) -> Durations:
    """Watch sequences of the data, and learn when each level updates. No label is looked at."""
    check_request(model, data, sequences, length)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        durations = Durations(model.config).to(model.usual)
    rng, watched = training_rng(seed), []
    for start in range(0, sequences, CHUNK):
        frames = data.batch(min(CHUNK, sequences - start), length, rng).frames
        uncounted = torch.from_numpy(rng.integers(length, size=len(frames)))
        uncounted[::2] = 0
        video = torch.from_numpy(frames)
        watched.append(examples(model, durations, video, uncounted, asleep=ASLEEP))
    for n, level in enumerate(zip(*watched, strict=True)):
        inputs, changed = (torch.cat(each) for each in zip(*level, strict=True))
        _fit(durations, n, Examples(inputs, changed), torch.Generator().manual_seed(seed))
    return durations.eval()


@torch.no_grad()
def examples(
    model: VPR,
    durations: Durations,
    video: Tensor,
    uncounted: Tensor | None = None,
    asleep: int = 0,
) -> list[Examples]:
    """Of levels 2 to N, from a video (B, T, *frame), frame after frame as it is seen.

    For the first `uncounted` (B,) frames of a sequence nobody counts ages, so that a head also
    learns what to say of states whose ages are not known.

    With `asleep`, each moment is asked twice: as it is seen, and as it is dreamt by who has had
    closed eyes for up to so many frames, and moves when the world does. So a head also learns what
    imagined states are worth, which are never quite those that frames would give.
    """
    first, *others = video.to(model.usual).unbind(1)
    state, _ = model.step(model.initial(len(first)), first)
    dreamt = state
    ages = Ages.unknown(len(first), model.config.levels).to(first.device)
    found: list[list[Examples]] = [[] for _ in durations.heads]
    for t, frame in enumerate(others, start=1):
        asked = [durations.inputs(state, ages)]
        if asleep:
            blind = ages._replace(dreamt=torch.ones_like(ages.dreamt))
            asked.append(durations.inputs(dreamt, blind))
        state, evidence = model.step(state, frame)
        moved = torch.stack([level.boundary for level in evidence], -1)
        for inputs in asked:
            for n, x in enumerate(inputs):
                rows = moved[:, n]
                found[n].append(Examples(x[rows], moved[rows, n + 1]))
        if asleep:
            dreamt = _woken(dream(model, dreamt, moved), state, t, asleep)
        ages = ages.after(moved)
        if uncounted is not None:
            ages = ages.forgotten(uncounted.to(frame.device) > t)
    return [Examples(*(torch.cat(each) for each in zip(*level, strict=True))) for level in found]


def _woken(dreamt: State, seen: State, time: int, asleep: int) -> State:
    """Every so many frames a sequence opens its eyes, each at a time of its own."""
    batch = len(seen.time)
    turns = torch.arange(batch, device=seen.time.device) + time
    rows = (turns % asleep == 0).nonzero().squeeze(1)
    return tree_put(dreamt, rows, tree_rows(seen, rows, batch), batch)


def blurred(inputs: Tensor, states: int, generator: torch.Generator) -> Tensor:  # (M, I) twice
    """With noise on the first inputs, which are the `states`."""
    noise = BLUR * torch.randn(len(inputs), states, generator=generator).to(inputs)
    return torch.cat([inputs[:, :states] + noise, inputs[:, states:]], 1)


def _fit(durations: Durations, n: int, seen: Examples, generator: torch.Generator) -> None:
    """Maximum likelihood, from a head that tells everybody the mean rate.

    It sees states blurred. A level overlooks some events, always in the same few states, and a head
    that knows these by heart would leave the same events out of every future.
    """
    if not len(seen.changed):
        raise VPRError(f"level {n + 1} never updated, so nothing can be learned of level {n + 2}")
    changed = seen.changed.to(seen.inputs)
    head: Layers = durations.heads[n]  # type: ignore[assignment]
    with torch.no_grad():
        head.layers[-1].bias.fill_(changed.mean().logit(1e-3))  # type: ignore[operator]
    optimiser = torch.optim.AdamW(head.parameters(), lr=RATE, weight_decay=DECAY)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    for _ in range(STEPS):
        rows = torch.randint(len(changed), (BATCH,), generator=generator).to(changed.device)
        told = blurred(seen.inputs[rows], durations.state_inputs[n], generator)
        loss = F.binary_cross_entropy_with_logits(durations.logit(n, told), changed[rows])
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        falling.step()
