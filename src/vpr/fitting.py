"""Durations learned from the boundaries that the model itself detects; the model stays as it is."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from vpr.ages import Ages
from vpr.data import Dataset, training_rng
from vpr.durations import Durations
from vpr.errors import VPRError
from vpr.evaluation.evaluate import CHUNK, check_request
from vpr.model import VPR
from vpr.networks import Layers

STEPS, BATCH, RATE = 2000, 512, 1e-2  # of Adam, for each head


class Examples(NamedTuple):
    """Of one level: the moments at which it could have updated, since the level below did."""

    inputs: Tensor  # (M, I) what was known before the frame
    changed: Tensor  # (M,) whether the level updated at it


def fit_durations(
    model: VPR, data: Dataset, *, sequences: int = 1024, length: int = 50, seed: int = 0
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
        watched.append(examples(model, durations, torch.from_numpy(frames), uncounted))
    for n, level in enumerate(zip(*watched, strict=True)):
        inputs, changed = (torch.cat(each) for each in zip(*level, strict=True))
        _fit(durations, n, Examples(inputs, changed), torch.Generator().manual_seed(seed))
    return durations.eval()


@torch.no_grad()
def examples(
    model: VPR, durations: Durations, video: Tensor, uncounted: Tensor | None = None
) -> list[Examples]:
    """Of levels 2 to N, from a video (B, T, *frame), frame after frame as it is seen.

    For the first `uncounted` (B,) frames of a sequence nobody counts ages, so that a head also
    learns what to say of states whose ages are not known.
    """
    first, *others = video.to(model.usual).unbind(1)
    state, _ = model.step(model.initial(len(first)), first)
    ages = Ages.unknown(len(first), model.config.levels).to(first.device)
    found: list[list[Examples]] = [[] for _ in durations.heads]
    for t, frame in enumerate(others, start=1):
        inputs = durations.inputs(state, ages)
        state, evidence = model.step(state, frame)
        moved = [level.boundary for level in evidence]
        for n, x in enumerate(inputs):
            found[n].append(Examples(x[moved[n]], moved[n + 1][moved[n]]))
        ages = ages.after(torch.stack(moved, -1))
        if uncounted is not None:
            ages = ages.forgotten(uncounted.to(frame.device) > t)
    return [Examples(*(torch.cat(each) for each in zip(*level, strict=True))) for level in found]


def _fit(durations: Durations, n: int, seen: Examples, generator: torch.Generator) -> None:
    """Maximum likelihood, from a head that tells everybody the mean rate."""
    if not len(seen.changed):
        raise VPRError(f"level {n + 1} never updated, so nothing can be learned of level {n + 2}")
    changed = seen.changed.to(seen.inputs)
    head: Layers = durations.heads[n]  # type: ignore[assignment]
    with torch.no_grad():
        head.layers[-1].bias.fill_(changed.mean().logit(1e-3))  # type: ignore[operator]
    optimiser = torch.optim.Adam(head.parameters(), lr=RATE)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    for _ in range(STEPS):
        rows = torch.randint(len(changed), (BATCH,), generator=generator).to(changed.device)
        loss = F.binary_cross_entropy_with_logits(
            durations.logit(n, seen.inputs[rows]), changed[rows]
        )
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        decay.step()
