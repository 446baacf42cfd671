"""A network that classifies the factors of a picture, trained on labels of the dataset.

It is the "pre-trained extractor model" for the entropies of the paper, and independent of VPR.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vpr.data import ThreeDShapesDynamic, training_rng
from vpr.evaluation.factor_readers import Reading

BATCH, LENGTH, RATE = 32, 2, 2e-3  # sequences, their frames, and of Adam
MAX_NOISE = 0.1  # standard deviation in training, because decoded frames are noisier than the data
CHUNK = 256  # pictures per batch

VERSION = 1  # raise it when network or training change, so that stored networks are trained again


class Extractor(nn.Module):
    """Three convolutions, one hidden layer, and a softmax for each factor."""

    def __init__(self, counts: dict[str, int]) -> None:
        super().__init__()
        self.counts = counts  # factor → number of values
        self.convolutions = nn.ModuleList(
            [
                nn.Conv2d(3, 32, 4, stride=4),
                nn.Conv2d(32, 64, 3, stride=2, padding=1),
                nn.Conv2d(64, 64, 3, stride=2, padding=1),
            ]
        )
        self.hidden = nn.Linear(64 * 4 * 4, 128)
        self.heads = nn.Linear(128, sum(counts.values()))

    def logits(self, frames: Tensor) -> list[Tensor]:  # (M, 3, 64, 64) → (M, values) each
        x = frames
        for layer in self.convolutions:
            x = F.relu(layer(x))
        x = self.heads(F.relu(self.hidden(x.flatten(1))))
        return list(x.split(list(self.counts.values()), -1))

    @torch.no_grad()
    def forward(self, frames: Tensor) -> Reading:
        """The most likely value of each factor of frames (..., 3, 64, 64)."""
        lead, flat = frames.shape[:-3], frames.flatten(0, -4).float().cpu()
        parts = [[e.argmax(-1) for e in self.logits(part)] for part in torch.split(flat, CHUNK)]
        named = zip(self.counts, zip(*parts, strict=True), strict=True)
        return {name: torch.cat(found).view(lead).numpy() for name, found in named}


def fit_extractor(data: ThreeDShapesDynamic, steps: int, seed: int = 0) -> Extractor:
    """Train with Adam on new frames and their labels."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        extractor = Extractor(data.counts)
    rng, noise_generator = training_rng(seed), torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(extractor.parameters(), lr=RATE)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        batch = data.batch(BATCH, LENGTH, rng)
        frames = torch.from_numpy(batch.frames).flatten(0, 1)
        noise_std = MAX_NOISE * torch.rand(len(frames), 1, 1, 1, generator=noise_generator)
        logits = extractor.logits(
            frames + noise_std * torch.randn(frames.shape, generator=noise_generator)
        )
        labels = [torch.from_numpy(batch.factors[name]).flatten() for name in data.counts]
        losses = [F.cross_entropy(g, true) for g, true in zip(logits, labels, strict=True)]
        optimiser.zero_grad()
        torch.stack(losses).sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        decay.step()
    return extractor.eval()
