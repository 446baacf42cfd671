"""Output of commands: tables, JSON, messages and progress bars."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from vpr.utils.printable import printable

# Progress and messages go to standard error, so that standard output has only the result.
messages = Console(stderr=True)

WORD = re.compile(r"[^\W\d_]{4}")  # in text, unlike numbers with units
MAX_NAME = 24  # letters


def print_message(line: str) -> None:
    """Print a message to standard error, without markup, line breaks and control characters."""
    messages.print(printable(line), markup=False, highlight=False, emoji=False, soft_wrap=True)


def print_line(line: str) -> None:
    """Print a line to standard output, without control characters."""
    print(printable(line))


def file_stem(command: str, model: str) -> str:
    """A file name that is different for every command and model."""
    return "-".join([command, *re.findall(r"\w[\w.]*", model)])


def print_json(data: Any) -> None:
    # Line by line: JSON escapes only some of the control characters.
    for line in json.dumps(data, indent=2, ensure_ascii=False).split("\n"):
        print_line(line)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Numbers are aligned to the right; short names in the first column are never broken."""
    table, cells = Table(), [[_cell(cell) for cell in row] for row in rows]
    for number, column in enumerate(columns):
        texts = [row[number] for row in cells]
        is_left = number == 0 or any(WORD.search(text) for text in texts)
        is_name = number == 0 and max(map(len, texts), default=0) <= MAX_NAME
        table.add_column(column, justify="left" if is_left else "right", no_wrap=is_name)
    for row in cells:
        table.add_row(*map(Text, row))  # a Text has no markup
    print_line(title)
    Console().print(table)


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else printable(str(value))


class Note:
    """The note of a progress bar: fields separated by commas, as many as there is room for."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(0, cell_len(self.text))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self.text
        while cell_len(text) > options.max_width and ", " in text:
            text = text.rpartition(", ")[0]
        yield Text(text, no_wrap=True, overflow="ellipsis")


class NoteColumn(ProgressColumn):
    def render(self, task: Task) -> Note:
        return Note(task.fields["note"])


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[int, str], None]]:
    """A progress bar that `advance(done, note)` updates; it appears with the first update."""
    with progress_bars([""]) as advance:
        yield lambda done, note: advance(0, done, total, note)


@contextmanager
def progress_bars(titles: Sequence[str]) -> Iterator[Callable[[int, int, int, str], None]]:
    """Progress bars that `advance(which, done, total, note)` updates.

    Each appears with its first update and disappears when it is full, unless it is the only one.
    """
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=8),
        TextColumn("{task.completed}/{task.total}"),
        NoteColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    progress = Progress(*columns, console=messages)
    tasks = [
        progress.add_task(printable(title), total=None, note="", visible=False) for title in titles
    ]

    def advance(which: int, done: int, total: int, note: str) -> None:
        progress.start()
        shown = done < total or len(tasks) == 1
        progress.update(tasks[which], completed=done, total=total, note=note, visible=shown)

    try:
        yield advance
    finally:
        if progress.live.is_started:
            progress.stop()
