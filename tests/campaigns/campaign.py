"""What all campaigns share: cases in processes of their own, the summary and the exit status."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import numpy as np
import torch

from vpr.errors import VPRError

BATCH = 50  # cases of one process
PATIENCE = 60  # seconds after which a case counts as hung

Case = Callable[[int, np.random.Generator, Path], str]  # number, randomness, its folder → outcome


class Failure(Exception):  # noqa: N818 (it is no error of the code, but a result)
    """What must not happen: lost data, or a file in the wrong place."""


class Result(NamedTuple):
    """How often each outcome was seen, and what must not happen."""

    outcomes: Counter[str]
    failures: list[str]


def run_cases(count: int, seed: int, case: Case) -> Result:
    """Run all cases in forked processes, so that a crash or a hang ends only its own case."""
    result = Result(Counter(), [])
    start = 0
    while start < count:
        for number, outcome in _forked(range(start, min(start + BATCH, count)), seed, case):
            kind, _, detail = outcome.partition(": ")
            result.outcomes[kind] += 1
            if kind == "failed":
                result.failures.append(f"case {number}: {detail}")
        start = number + 1
    return result


def _forked(numbers: range, seed: int, case: Case) -> Iterator[tuple[int, str]]:
    """The outcomes of cases in one process; the last is that of the case in which it died."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _serve(numbers, seed, case, write)
    os.close(write)
    done = 0
    with os.fdopen(read) as lines:
        for line in lines:
            yield numbers[done], json.loads(line)
            done += 1
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if done < len(numbers):
        reason = "it hung" if status == -signal.SIGALRM else f"its process ended with {status}"
        yield numbers[done], f"failed: {reason}"


def _serve(numbers: range, seed: int, case: Case, write: int) -> None:
    torch.set_num_threads(1)
    with os.fdopen(write, "w") as lines:
        for number in numbers:
            signal.alarm(PATIENCE)  # without a handler, which C code would not call
            print(json.dumps(_outcome(number, seed, case)), file=lines, flush=True)
    os._exit(0)


def _outcome(number: int, seed: int, case: Case) -> str:
    with TemporaryDirectory(prefix="campaign-") as folder:
        try:
            return case(number, np.random.default_rng([seed, number]), Path(folder))
        except VPRError as error:
            long = len(str(error).splitlines()) != 1 or len(str(error)) > 2000
            return "failed: an error of several lines" if long else "refused"
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            return f"failed: {type(error).__name__} in {place}: {str(error)[:200]}"


def inside(folder: Path, allowed: set[str]) -> None:
    """Raise unless all entries of `folder` are in `allowed`."""
    if strangers := {path.name for path in folder.iterdir()} - allowed:
        raise Failure(f"files outside the output folder: {sorted(strangers)}")


def command(
    name: str, count: int, run: Callable[[int, int], Result], argv: Sequence[str] | None = None
) -> int:
    """The command of a campaign; returns its exit status."""
    parser = argparse.ArgumentParser(f"python -m tests.campaigns.{name}")
    parser.add_argument("--count", type=int, default=count, help=f"size of the campaign [{count}]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(f"campaign-{name}.json"))
    chosen = parser.parse_args(argv)
    start = perf_counter()
    result = run(chosen.count, chosen.seed)
    record = {
        "campaign": name,
        "count": chosen.count,
        "seed": chosen.seed,
        "outcomes": dict(sorted(result.outcomes.items())),
        "failures": result.failures,
        "seconds": round(perf_counter() - start, 1),
    }
    chosen.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    told = ", ".join(f"{n} {kind}" for kind, n in sorted(result.outcomes.items()))
    print(f"{name}: {chosen.count} cases, {len(result.failures)} failures ({told})")
    for failure in result.failures[:20]:
        print(f"  {failure}", file=sys.stderr)
    return 1 if result.failures else 0
