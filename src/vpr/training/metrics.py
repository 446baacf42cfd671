"""The metrics of a training run: metrics.jsonl and TensorBoard curves."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from torch.utils.tensorboard import SummaryWriter

from vpr.config import RunConfig
from vpr.training.checkpoint import RunFolder
from vpr.utils.files import WriteError, error_reason, step_lines, write_text

if TYPE_CHECKING:
    from vpr.training.loop import Progress


class StepLog:
    """A log of JSON lines, each with its `step`.

    When it is opened at a step, later lines are dropped: a resumed run writes them again.
    """

    def __init__(self, path: Path, step: int) -> None:
        if path.exists():
            kept = takewhile(lambda line: line["step"] <= step, step_lines(path))
            write_text(path, "".join(json.dumps(line) + "\n" for line in kept))
        self.file = path.open("a", encoding="utf-8")

    def push(self, line: dict[str, Any]) -> None:
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def close(self) -> None:
        self.file.close()


class MetricsLog:
    """Writes a line and a point on each curve every `log_every` steps."""

    def __init__(self, folder: RunFolder, config: RunConfig, step: int) -> None:
        self.every = config.training.log_every
        with _readable_errors(folder):
            self.lines = StepLog(folder.metrics, step)
            self.board = SummaryWriter(str(folder.tensorboard), purge_step=step + 1)
        self.folder = folder

    def push(self, progress: Progress) -> None:
        if progress.step % self.every and progress.step != progress.steps:
            return
        with _readable_errors(self.folder):
            self.lines.push(progress._asdict())
            for name, value in _curves(progress).items():
                self.board.add_scalar(name, value, progress.step)

    def __enter__(self) -> MetricsLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # If writing has failed before, `push` has already reported it.
        with contextlib.suppress(WriteError) if error else contextlib.nullcontext():
            with _readable_errors(self.folder):
                self.lines.close()
            with _readable_errors(self.folder):
                self.board.close()


@contextmanager
def _readable_errors(folder: RunFolder) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename or folder.path
        raise WriteError(f"cannot write metrics into {where}: {error_reason(error)}") from error


def _curves(progress: Progress) -> dict[str, float]:
    curves = {
        "loss": progress.loss,
        "reconstruction": progress.reconstruction,
    }
    of_levels = {
        "beta": progress.beta,
        "kl": progress.kl,
        "update rate": progress.update_rate,
    } | progress.objectives
    for name, values in of_levels.items():
        curves |= {f"{name}/level {level}": value for level, value in enumerate(values, start=1)}
    return curves
