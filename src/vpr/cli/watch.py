"""`vpr watch SOURCE`: events of live footage, in the terminal or as lines of JSON."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from vpr.cli.options import add_footage, finite
from vpr.cli.show import print_message
from vpr.errors import VPRError
from vpr.utils.printable import printable

if TYPE_CHECKING:
    from vpr.video.frames import Source
    from vpr.watching.feed import Arrival
    from vpr.watching.watcher import WatchedFrame, Watcher

DESCRIPTION = """\
Show events as they happen: in a terminal with one lane per level, otherwise or with --json as lines
of JSON. Cameras, URLs and pipes do not wait: if the model is too slow, the oldest frames are
dropped and reported. Files are read at the speed of the model, unless --realtime is given. Ctrl-C
stops.
"""


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.description = DESCRIPTION
    parser.usage = "vpr watch SOURCE [--model MODEL] [--realtime] [--json]"
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="File, folder of pictures, URL, device, camera number, or - for a pipe.",
    )
    add_footage(parser)
    parser.add_argument(
        "--realtime",
        action=argparse.BooleanOptionalAction,
        help="Play a file at its own speed; --no-realtime waits for the model and drops no frames.",
    )
    parser.add_argument(
        "--span", metavar="SECONDS", type=finite, default=30, help="Time that a lane shows. [30]"
    )
    parser.add_argument(
        "--size", metavar="WxH", type=_size, help="Size of raw rgb24 frames in a pipe."
    )
    parser.add_argument("--format", metavar="NAME", help="PyAV input format: v4l2, lavfi, …")


class Display(Protocol):
    def show(self, seen: WatchedFrame) -> None: ...

    def end(self, summary: dict[str, Any]) -> None: ...

    def close(self) -> None: ...


def run(arguments: argparse.Namespace) -> int:
    from vpr.pretrained import FOOTAGE, load_model
    from vpr.segmenting.inputs import ModelInput
    from vpr.segmenting.segment import fit_for, with_threshold
    from vpr.utils.interruptible import interruptible
    from vpr.utils.threads import use_threads
    from vpr.video.finding import is_address
    from vpr.watching.watcher import Watcher

    if arguments.span <= 0:
        raise VPRError(f"--span must be above 0 seconds, got {arguments.span:g}")
    use_threads(1)
    arguments.model = FOOTAGE if arguments.model is None else arguments.model
    model = with_threshold(load_model(arguments.model), arguments.threshold)
    inputs = ModelInput(model, arguments.fit or fit_for(arguments.model))
    what, form = _camera(arguments.source, arguments.format)
    # A pipe or a camera may send nothing while it is opened.
    source = interruptible(
        lambda: inputs.open(what, arguments.rate, size=arguments.size, format=form)
    )
    is_live = is_address(what) or form is not None
    watcher = Watcher(model, inputs, live=is_live or bool(arguments.realtime))
    display = _display(arguments, source.name, watcher.levels)
    arrivals = _arrivals(source, is_live, arguments.realtime)
    try:
        summary = _watch(watcher, arrivals, display)
        display.end(summary | {"undecodable": source.undecodable})
    finally:
        display.close()
    if source.problem:
        print_message(source.problem)
        return 1
    return 0


def _camera(source: str, form: str | None) -> tuple[str, str | None]:
    """The device and input format of a camera that is given as a number."""
    if not source.isdecimal() or os.path.exists(source):
        return source, form
    if sys.platform == "darwin":
        return source, form or "avfoundation"
    device = f"/dev/video{int(source)}"
    if os.path.exists(device):
        return device, form or "v4l2"
    raise VPRError(f"there is no file {source}, and no camera {device}: give a file, URL or device")


def _watch(watcher: Watcher, arrivals: Iterable[Arrival], display: Display) -> dict[str, Any]:
    from vpr.watching.watcher import WatchStatistics

    statistics, ended = WatchStatistics(watcher.levels), "end of source"
    try:
        for arrival in arrivals:
            seen = watcher.process(arrival)
            display.show(seen)
            statistics.add(seen, monotonic() - arrival.at)
    except KeyboardInterrupt:
        ended = "stopped"
    return {"ended": ended, **statistics.summary()}


def _arrivals(source: Source, is_live: bool, realtime: bool | None) -> Iterable[Arrival]:
    from vpr.watching.feed import Feed, blocking_feed

    if realtime or (is_live and realtime is None):
        return Feed(source, paced=bool(realtime))
    if is_live:  # it may stall, and only a thread can be left behind
        return Feed(source, drops=False)
    return blocking_feed(source)


def _display(arguments: argparse.Namespace, source: str, levels: int) -> Display:
    from rich.console import Console

    from vpr.watching.json_lines import JSONLines
    from vpr.watching.terminal_view import TerminalView

    console = Console()
    if arguments.json or not console.is_terminal or console.is_dumb_terminal:
        return JSONLines(sys.stdout)
    title = printable(f"{source}  {arguments.model}")
    return TerminalView(console, title, levels, arguments.span)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected a size like 640x360, got {text}")
    return int(width), int(height)
