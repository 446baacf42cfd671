"""`vpr watch SOURCE`: boundaries as they happen, live in the terminal or as lines of JSON."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from vpr.cli.flags import finite
from vpr.cli.main import Command
from vpr.cli.show import tell
from vpr.errors import VPRError

if TYPE_CHECKING:
    from vpr.video.frames import Source
    from vpr.watching.feed import Arrival
    from vpr.watching.watcher import Seen, Watcher

DESCRIPTION = """\
Watch footage and tell of events as they happen: in a terminal as a view with a lane for each level,
otherwise, or with --json, as lines of JSON. A camera, a URL or a pipe does not wait: if the model
is too slow for it, the oldest frames are dropped, and that is said. A file waits, unless it is
played with --realtime. Ctrl-C ends it.
"""


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.description = DESCRIPTION
    parser.usage = "vpr watch SOURCE --model MODEL [--realtime] [--json]"
    parser.add_argument(
        "source", metavar="SOURCE", help="A file, folder of pictures, URL, device, or - for a pipe."
    )
    parser.add_argument("--model", required=True, help="A run folder, a shipped model or a hub id.")
    parser.add_argument("--threshold", type=finite, help="γ, as in vpr segment. [the model's]")
    parser.add_argument(
        "--realtime",
        action=argparse.BooleanOptionalAction,
        help="Play a file at its own speed; with --no-, wait for the model instead of dropping.",
    )
    parser.add_argument("--span", type=finite, default=30, help="Seconds that a lane shows. [30]")
    parser.add_argument("--size", metavar="WxH", type=_size, help="Of raw rgb24 frames in a pipe.")
    parser.add_argument("--rate", help="Frames a second, where the source has no times. [25]")
    parser.add_argument("--format", help="What PyAV opens a device with: v4l2, lavfi, …")
    parser.add_argument(
        "--fit",
        choices=("letterbox", "crop", "stretch"),
        help="Where footage has other proportions than the model. [as in training, or letterbox]",
    )


class Display(Protocol):
    def show(self, seen: Seen) -> None: ...

    def end(self, summary: dict[str, Any]) -> None: ...

    def close(self) -> None: ...


def run(arguments: argparse.Namespace) -> int:
    from vpr.pretrained import load_model
    from vpr.segmenting.fitting import fit_for
    from vpr.segmenting.segmenter import with_threshold
    from vpr.utils.threads import use_threads
    from vpr.video import Fit, open_footage
    from vpr.video.finding import is_address
    from vpr.watching.watcher import Watcher

    if arguments.span <= 0:
        raise VPRError(f"--span must be seconds above 0, got {arguments.span:g}")
    use_threads(1)
    model = with_threshold(load_model(arguments.model), arguments.threshold)
    fit = Fit.to(model.config.frame, arguments.fit or fit_for(arguments.model))
    what, form = arguments.source, arguments.format
    source = open_footage(what, fit=fit, rate=arguments.rate, size=arguments.size, format=form)
    comes_by_itself = is_address(what) or form is not None
    watcher = Watcher(model, live=comes_by_itself or bool(arguments.realtime))
    display = _display(arguments, source.name, watcher.levels)
    arrivals = _arrivals(source, comes_by_itself, arguments.realtime)
    try:
        display.end(_watch(watcher, arrivals, display))
    finally:
        display.close()
    if source.trouble:
        tell(source.trouble)
        return 1
    return 0


def _watch(watcher: Watcher, arrivals: Iterable[Arrival], display: Display) -> dict[str, Any]:
    from vpr.watching.watcher import Account

    account, ended = Account(watcher.levels), "end of source"
    try:
        for arrival in arrivals:
            seen = watcher.see(arrival)
            display.show(seen)
            account.add(seen, monotonic() - arrival.at)
    except KeyboardInterrupt:
        ended = "stopped"
    return {"ended": ended, **account.summary()}


def _arrivals(source: Source, comes_by_itself: bool, realtime: bool | None) -> Iterable[Arrival]:
    from vpr.watching.feed import Feed, waiting

    if realtime or (comes_by_itself and realtime is None):
        return Feed(source, paced=bool(realtime))
    return waiting(source)


def _display(arguments: argparse.Namespace, source: str, levels: int) -> Display:
    from rich.console import Console

    from vpr.watching.json_lines import Lines
    from vpr.watching.terminal_view import View

    console = Console()
    if arguments.json or not console.is_terminal or console.is_dumb_terminal:
        return Lines(sys.stdout)
    return View(console, f"{source}  {arguments.model}", levels, arguments.span)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected a size like 640x360, got {text}")
    return int(width), int(height)


COMMAND = Command("Tell of events as they happen.", declare, run)
