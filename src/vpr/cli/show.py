"""What commands print: tables and progress on the terminal, JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

# Progress and messages go to standard error, so that standard output is only the result.
messages = Console(stderr=True)


def tell(line: str) -> None:
    """A message: a path in it is a path, whatever its brackets, and is not broken."""
    messages.print(line, markup=False, highlight=False, soft_wrap=True)


def print_json(data: Any) -> None:
    print(json.dumps(data, indent=2, ensure_ascii=False))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    table = Table()
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row))
    print(title)
    Console().print(table)


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[int, str], None]]:
    """A bar that `advance(done, note)` moves and that appears with its first move."""
    columns = (
        BarColumn(bar_width=8),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[note]}", markup=False),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    progress = Progress(*columns, console=messages)
    task = progress.add_task("", total=total, note="")

    def advance(done: int, note: str) -> None:
        progress.start()
        progress.update(task, completed=done, note=note)

    try:
        yield advance
    finally:
        if progress.live.is_started:
            progress.stop()
