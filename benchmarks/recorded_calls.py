"""Which functions run, and the lines they occupy; needs no other module of this repository."""

from __future__ import annotations

import inspect
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

Lines = dict[Path, set[int]]  # file → numbers of lines


class Recorder:
    """Counts the calls of each function."""

    def __init__(self) -> None:
        self.calls: Counter[CodeType] = Counter()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self.calls[frame.f_code] += 1


def lines_of(functions: Iterable[CodeType], package: Path) -> Lines:
    """The lines that functions of a package occupy."""
    found: Lines = defaultdict(set)
    for code in functions:
        path = Path(code.co_filename)
        # The body of a module or a class is not a function.
        if path.is_relative_to(package) and code.co_flags & inspect.CO_NEWLOCALS:
            text, first = inspect.getsourcelines(code)
            found[path] |= set(range(first, first + len(text)))
    return found


@contextmanager
def recorded_calls() -> Iterator[Recorder]:
    recorder = Recorder()
    sys.setprofile(recorder)
    try:
        yield recorder
    finally:
        sys.setprofile(None)
