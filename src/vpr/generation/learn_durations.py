"""Fit `Durations` to the boundaries that a model detects. The model is not changed."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from vpr.data import Dataset, training_rng
from vpr.errors import VPRError
from vpr.generation.durations import Durations
from vpr.generation.event_clock import EventClock
from vpr.generation.imagine import predict
from vpr.model import VPR
from vpr.nets.dense import Layers
from vpr.state import State
from vpr.utils.checks import check_request
from vpr.utils.tree import tree_put, tree_rows

STEPS, BATCH, LEARNING_RATE, WEIGHT_DECAY = 6000, 512, 1e-2, 0.1  # of AdamW, for each head
STATE_NOISE = 0.5  # σ of the noise on s^n and s^{n+1} while a head is trained
CHUNK = 32  # sequences per batch, to bound the memory
IMAGINED_FRAMES = 12  # maximum number of imagined frames before the observed state is used again


class Examples(NamedTuple):
    """The training examples of one level: frames at which the level below updated."""

    inputs: Tensor  # (M, I) known before the frame, see `Durations.inputs`
    changed: Tensor  # (M,) whether the level updated at the frame


def fit_durations(
    model: VPR, data: Dataset, *, sequences: int = 2048, length: int = 50, seed: int = 0
) -> Durations:
    """Fit the durations of a model to its own boundaries in sequences of the data.

    No labels are used.
    """
    check_request(model.config, data, sequences, length)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        durations = Durations(model.config).to(model.device, model.dtype)
    rng, parts = training_rng(seed), []
    for start in range(0, sequences, CHUNK):
        frames = data.batch(min(CHUNK, sequences - start), length, rng).frames
        unknown_until = torch.from_numpy(rng.integers(length, size=len(frames)))
        unknown_until[::2] = 0
        video = torch.from_numpy(frames)
        parts.append(examples(model, durations, video, unknown_until, IMAGINED_FRAMES))
    for n, level in enumerate(zip(*parts, strict=True)):
        inputs, changed = (torch.cat(each) for each in zip(*level, strict=True))
        _fit(durations, n, Examples(inputs, changed), torch.Generator().manual_seed(seed))
    return durations.eval()


@torch.no_grad()
def examples(
    model: VPR,
    durations: Durations,
    video: Tensor,
    unknown_until: Tensor | None = None,
    imagined_frames: int = 0,
) -> list[Examples]:
    """The examples of levels 2 to N in a video (B, T, *frame).

    For the first `unknown_until` (B,) frames of a sequence the ages are unknown, so that the heads
    also learn from states of unknown age.

    With `imagined_frames`, each frame gives two examples: from the observed state, and from a state
    that was predicted by the priors for up to that many frames, with updates at the observed
    boundaries. The heads thus also learn from imagined states, which differ from observed ones.
    """
    first, *others = video.to(model.device, model.dtype).unbind(1)
    state, _ = model.step(model.initial(len(first)), first)
    predicted = state
    clock = EventClock.unknown(len(first), model.config.levels).to(first.device)
    found: list[list[Examples]] = [[] for _ in durations.heads]
    for t, frame in enumerate(others, start=1):
        inputs = [durations.inputs(state, clock)]
        if imagined_frames:
            marked = clock._replace(imagined=torch.ones_like(clock.imagined))
            inputs.append(durations.inputs(predicted, marked))
        state, evidence = model.step(state, frame)
        moved = torch.stack([level.boundary for level in evidence], -1)
        for of_heads in inputs:
            for n, x in enumerate(of_heads):
                rows = moved[:, n]
                found[n].append(Examples(x[rows], moved[rows, n + 1]))
        if imagined_frames:
            predicted = _resynchronised(predict(model, predicted, moved), state, t, imagined_frames)
        clock = clock.after(moved)
        if unknown_until is not None:
            clock = clock.reset(unknown_until.to(frame.device) > t)
    return [Examples(*(torch.cat(each) for each in zip(*level, strict=True))) for level in found]


def _resynchronised(predicted: State, observed: State, time: int, period: int) -> State:
    """Replace the predicted state by the observed one every `period` frames.

    The sequences take turns, each at its own frame.
    """
    batch = len(observed.time)
    turns = torch.arange(batch, device=observed.time.device) + time
    rows = (turns % period == 0).nonzero().squeeze(1)
    return tree_put(predicted, rows, tree_rows(observed, rows, batch), batch)


def with_state_noise(
    inputs: Tensor, states: int, generator: torch.Generator
) -> Tensor:  # (M, I) twice
    """Add noise to the first `states` inputs, which are the states."""
    noise = STATE_NOISE * torch.randn(len(inputs), states, generator=generator).to(inputs)
    return torch.cat([inputs[:, :states] + noise, inputs[:, states:]], 1)


def _fit(durations: Durations, n: int, data: Examples, generator: torch.Generator) -> None:
    """Maximum likelihood, starting from the mean rate.

    The states are noisy in training. A level misses some events, always in the same few states; a
    head that memorised these states would omit the same events from every future.
    """
    if not len(data.changed):
        raise VPRError(f"level {n + 1} never updated, so nothing can be learned of level {n + 2}")
    changed = data.changed.to(data.inputs)
    head: Layers = durations.heads[n]  # type: ignore[assignment]
    with torch.no_grad():
        head.layers[-1].bias.fill_(changed.mean().logit(1e-3))  # type: ignore[operator]
    optimiser = torch.optim.AdamW(head.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    for _ in range(STEPS):
        rows = torch.randint(len(changed), (BATCH,), generator=generator).to(changed.device)
        inputs = with_state_noise(data.inputs[rows], durations.state_inputs[n], generator)
        loss = F.binary_cross_entropy_with_logits(durations.logit(n, inputs), changed[rows])
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
