"""Commands are functions in a dictionary; errors are one line on standard error, exit code 2."""

from __future__ import annotations

import argparse
import difflib
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from vpr.errors import VPRError

DESCRIPTION = "Find the events in a video, at several timescales, with no labels."


class Command(NamedTuple):
    """`declare` adds the arguments, given the words that follow the command; `run` does it."""

    help: str
    declare: Callable[[argparse.ArgumentParser, Sequence[str]], None]
    run: Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """argparse with errors of one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `vpr`; the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words
    try:
        arguments = _parse([word for word in words if word != "--debug"])
        run: Callable[[argparse.Namespace], int] = arguments.run
        return run(arguments)
    except VPRError as error:
        return _complain(str(error), debug)
    except BrokenPipeError:  # the reader of our output went away, as in `vpr … | head`
        sys.stderr.close()
        return 1
    except OSError as error:
        return _complain(f"{error.strerror or error}: {error.filename or ''}", debug)
    except KeyboardInterrupt:
        print("vpr: stopped", file=sys.stderr)
        return 130


def _complain(words: str, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    else:
        print(f"vpr: {words}", file=sys.stderr)
    return 2


def _parse(words: list[str]) -> argparse.Namespace:
    from vpr.cli.commands import COMMANDS

    parser = Parser("vpr", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"vpr {_version()}")
    parser.epilog = "Every command takes --json for machines and --debug for the whole trace."
    chosen: argparse.ArgumentParser = parser
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    for name, command in COMMANDS.items():
        each = commands.add_parser(
            name, help=command.help, description=command.help, allow_abbrev=False
        )
        each.add_argument("--json", action="store_true", help="Print JSON instead of a table.")
        each.add_argument("--debug", action="store_true", help="Show the whole trace of an error.")
        each.set_defaults(run=command.run)
        if words and words[0] == name:
            command.declare(each, words[1:])
            chosen = each
    arguments, unknown = parser.parse_known_args(words)
    if unknown:
        chosen.error(f"unknown {' '.join(unknown)}{_meant(unknown[0], chosen)}")
    return arguments


def _meant(flag: str, parser: argparse.ArgumentParser) -> str:
    known = [name for action in parser._actions for name in action.option_strings]
    close = difflib.get_close_matches(flag.split("=")[0], known, 1)
    return f", did you mean {close[0]}?" if close else ""


def _version() -> str:
    from vpr import __version__

    return __version__
