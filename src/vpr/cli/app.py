"""`vpr app`: a web page on this machine that finds the events in uploaded videos."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Sequence
from pathlib import Path

from vpr.cli.options import MODEL_HELP, add_number, add_out_folder, at_least_one, finite
from vpr.cli.show import print_message
from vpr.errors import VPRError

DESCRIPTION = """\
Start a web page on this machine: upload a video, follow the progress, look at the timeline, and
download all files. It works without a network. Needs pip install 'vpr-torch[app]'. Ctrl-C stops.
"""


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.description = DESCRIPTION
    parser.add_argument(
        "--model", help=f"{MODEL_HELP} [a new model is trained on each video, for two minutes]"
    )
    add_out_folder(parser, Path("vpr-app"), "uploads and results; nothing else is written")
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="Address to listen on; 0.0.0.0 lets other machines in, without a password. "
        "[127.0.0.1]",
    )
    add_number(parser, "--port", 7860, "Port.")
    add_number(parser, "--megabytes", 500, "Maximum size of an upload, in MB.")
    parser.add_argument(
        "--minutes",
        type=finite,
        metavar="N",
        default=15.0,
        help="Maximum time per video in minutes, including training. [15]",
    )


def run(arguments: argparse.Namespace) -> int:
    from vpr.app.server import make_app
    from vpr.app.upload_jobs import Jobs, Limits
    from vpr.pretrained import load_model
    from vpr.utils.threads import use_threads

    at_least_one(megabytes=arguments.megabytes)
    if arguments.minutes <= 0:
        raise VPRError(f"minutes must be above 0, got {arguments.minutes:g}")
    print_message("Starting the app …")
    use_threads(1)
    if arguments.model is not None:
        load_model(arguments.model)  # to report errors now
    limits = Limits(arguments.megabytes, arguments.minutes)
    app = make_app(Jobs(arguments.out, arguments.model, limits))
    import uvicorn

    with _listening(arguments.host, arguments.port) as listening:
        print_message(f"Open http://{arguments.host}:{arguments.port}")
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=3)
        uvicorn.Server(config).run([listening])
    return 0


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise VPRError(
            f"cannot listen on {host}:{port} ({reason}): choose another --port"
        ) from None
