"""How much code there is, and how much of it one needs to read: `python -m benchmarks.code_size`.

Prints the size of the package, and for one training step and one `vpr segment` the files and the
lines of the functions that run. A function counts with its docstring and comments; files count
once. Preparations, such as rendering rooms, are not part of a training step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import vpr
from benchmarks.footage import write_scenes
from benchmarks.models import matching_model
from benchmarks.recorded_calls import Lines, lines_of, recorded_calls
from benchmarks.steps import training_step
from vpr.cli import main
from vpr.presets import preset
from vpr.segmenting import segment
from vpr.training.session import Session

PACKAGE = Path(vpr.__file__).parent


def lines_of_training_step(name: str) -> Lines:
    """One step in the last stage of a preset, with drawing the batch."""
    config = preset(name)
    config = replace(config, training=replace(config.training, batch_size=4))
    session = Session(config)
    session.model.load_state_dict(matching_model(config)[0].state_dict())
    session.step = session.last() - 1
    if hasattr(config.data, "prepare"):
        config.data.prepare()
    with training_step(session, session.batch()) as step:
        step()  # what is done once per process
        session.step = session.last() - 1
    with (
        training_step(session, session.batch()) as step,
        recorded_calls() as recorder,
    ):
        session.batch()
        step()
    return lines_of(recorder.calls, PACKAGE)


def lines_of_segmentation(call: Callable[[str], Any]) -> dict[str, Lines]:
    """All functions that run, and those that run more often if the footage is longer."""
    calls = []
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        for number, frames in enumerate((200, 200, 400)):  # the first time, modules are imported
            footage = Path(folder) / f"{number}.mp4"
            write_scenes(footage, frames)
            with recorded_calls() as recorder:
                call(str(footage))
            calls.append(recorder.calls)
    _, short, long = calls
    per_frame = [code for code in long if long[code] > short[code]]
    return {"": lines_of(long, PACKAGE), ", per frame or event": lines_of(per_frame, PACKAGE)}


def segment_function(footage: str) -> None:
    segment(footage, "moving-ball")


def segment_command(footage: str) -> None:
    out = str(Path(footage).parent / "out")
    if main(["segment", footage, "--model", "moving-ball", "--out", out, "--force"]):
        raise SystemExit("vpr segment failed")


def show(title: str, lines: Lines) -> None:
    total = sum(len(path.read_text().splitlines()) for path in lines)
    functions = sum(map(len, lines.values()))
    print(f"\n{title}: {functions:,} lines of functions, in {len(lines)} files of {total:,} lines")
    for path, numbers in sorted(lines.items(), key=lambda item: -len(item[1])):
        print(f"  {len(numbers):4} {path.relative_to(PACKAGE)}")


def show_package() -> None:
    sizes = {path: len(path.read_text().splitlines()) for path in PACKAGE.rglob("*.py")}
    modules = sorted(path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__"))
    print(f"Package: {sum(sizes.values()):,} lines in {len(sizes)} files")
    print(f"Top-level modules: {len(modules)}: {', '.join(modules)}")
    folders: dict[str, int] = defaultdict(int)
    for path, size in sizes.items():
        parts = path.relative_to(PACKAGE).parts
        folders[f"{parts[0]}/" if len(parts) > 1 else "top level"] += size
    for folder, size in sorted(folders.items(), key=lambda item: -item[1]):
        print(f"  {size:6,} {folder}")


if __name__ == "__main__":
    show_package()
    show("A training step of cpu/3dsd", lines_of_training_step("cpu/3dsd"))
    runs = {"vpr.segment": segment_function, "vpr segment": segment_command}
    for name, run in runs.items():
        for part, lines in lines_of_segmentation(run).items():
            show(f"{name}{part}", lines)
