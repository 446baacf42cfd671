"""A dataset for a `torch.utils.data.DataLoader`."""

from __future__ import annotations

from collections.abc import Iterator

from torch.utils.data import IterableDataset, get_worker_info

from vpr.data.base import Batch, Dataset, worker_rng


class Sequences(IterableDataset[Batch]):
    """An infinite stream of single sequences: each is a `Batch` without the batch axis.

    A DataLoader stacks them into batches of tensors. Each worker has its own random generator,
    which restarts with every pass: the same seed and number of workers give the same sequences.
    With several processes, as in DDP, use a different seed in each.
    """

    def __init__(self, dataset: Dataset, length: int, seed: int = 0) -> None:
        super().__init__()
        self.dataset, self.length, self.seed = dataset, length, seed

    def __iter__(self) -> Iterator[Batch]:
        worker = get_worker_info()
        rng = worker_rng(self.seed, 0 if worker is None else worker.id)
        while True:
            frames, factors, changes = self.dataset.batch(1, self.length, rng)
            yield Batch(
                frames[0],
                {name: values[0] for name, values in factors.items()},
                {name: marks[0] for name, marks in changes.items()},
            )
