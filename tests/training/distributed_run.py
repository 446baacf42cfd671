"""A training run as a script: `python -m tests.training.distributed_run OUT UNTIL DEVICES`."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace

import torch

from tests.conftest import tiny_run
from vpr import VPRError
from vpr.config import RunConfig
from vpr.training.loop import Progress, train
from vpr.training.session import Session


def config(batch_size: int = 8) -> RunConfig:
    """20 steps through all stages, with all objectives and random updates, at three levels."""
    run = tiny_run(steps=20, levels=3)
    stages = tuple(
        replace(stage, random_updates=0.5, objectives=("persistence", "overshooting"))
        for stage in run.stages
    )
    training = replace(
        run.training, batch_size=batch_size, length=6, decoded_frames=3, kl_balancing=True
    )
    return replace(run, stages=stages, training=training)


class DyingSession(Session):
    """The second process is killed at step 7."""

    def batch(self) -> torch.Tensor:
        if self.step == 7 and os.environ.get("LOCAL_RANK") == os.environ.get("DYING_RANK"):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().batch()


def main(out: str, until: str, devices: str) -> None:
    steps: list[int] = []

    def on_step(now: Progress) -> None:
        steps.append(now.step)

    try:
        train(
            config(int(os.environ.get("BATCH", 8))),
            out,
            until=int(until),
            devices=int(devices),
            on_step=on_step,
            make_session=DyingSession if "DYING_RANK" in os.environ else Session,
        )
    except VPRError as error:
        print(f"vpr: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    if steps:
        print(f"steps {steps[0]} to {steps[-1]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
