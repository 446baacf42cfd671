"""The `vpr` command. Errors are one line on standard error, with exit code 2."""

from __future__ import annotations

import argparse
import difflib
import io
import re
import shlex
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from vpr.cli.commands import COMMANDS, command_module
from vpr.errors import VPRError
from vpr.utils.printable import printable

DESCRIPTION = "Detect events in video at several timescales, without labels."
EPILOG = "Every command has --help, --json for JSON output and --debug for full error traces."


SYNONYMS = {"--lr": "--learning-rate", "--epochs": "--steps", "--gamma": "--threshold"}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        # Messages of the types in `vpr.cli.options` continue the name of the option.
        message = re.sub(r"^argument (--\S+): (?=must |.* is a file)", r"\1 ", printable(message))
        see = f"{'See' if message.endswith('?') else 'see'} {self.prog} --help"
        self.exit(2, f"{self.prog}: {message}{' ' if message.endswith('?') else '; '}{see}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `vpr`; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    if isinstance(sys.stdout, io.TextIOWrapper):  # whatever the encoding, printing must not fail
        sys.stdout.reconfigure(errors="backslashreplace")
    debug = "--debug" in words
    arguments = argparse.Namespace()
    try:
        arguments = _parse([word for word in words if word != "--debug"])
        code: int = command_module(arguments.command).run(arguments)
        return code
    except VPRError as error:
        return _print_error(_with_option(str(error), arguments), debug)
    except BrokenPipeError:  # the reader of our output has closed it, as in `vpr … | head`
        sys.stderr.close()
        return 1
    except MemoryError:
        return _print_error("not enough memory: give fewer or smaller frames", debug)
    except OSError as error:
        return _print_error(f"{error.strerror or error}: {error.filename or ''}", debug)
    except KeyboardInterrupt:
        print("vpr: stopped", file=sys.stderr)
        return 130


def _print_error(message: str, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    else:
        print(f"vpr: {printable(message)}", file=sys.stderr)
    return 2


def _with_option(message: str, arguments: argparse.Namespace) -> str:
    """Name the option: the `min_gap must be …` of a function is the `--min-gap must be …` here."""
    name, must, rest = message.partition(" must ")
    return f"--{name.replace('_', '-')}{must}{rest}" if name in arguments else message


def _parse(words: list[str]) -> argparse.Namespace:
    parser = Parser("vpr", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"vpr {_version()}")
    chosen: argparse.ArgumentParser = parser
    commands = parser.add_subparsers(
        metavar="COMMAND", dest="command", required=True, parser_class=Parser
    )
    for name, text in COMMANDS.items():
        each = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        if words and words[0] == name:
            each.add_argument("--json", action="store_true", help="Print JSON instead of a table.")
            each.add_argument("--debug", action="store_true", help="Print full error traces.")
            command_module(name).declare(each, words[1:])
            chosen = each
    arguments, unknown = parser.parse_known_args(words)
    if unknown:
        chosen.error(f"unknown {shlex.join(unknown)}{_suggestion(unknown[0], chosen)}")
    return arguments


def _suggestion(flag: str, parser: argparse.ArgumentParser) -> str:
    """The option that was probably meant: of the same last part, or of a similar name."""
    known = [name for action in parser._actions for name in action.option_strings]
    word = flag.split("=")[0]
    word = SYNONYMS.get(word, word)
    same = [name for name in known if name.lstrip("-").split(".")[-1] == word.lstrip("-")]
    close = same or difflib.get_close_matches(word, known, 1)
    return f", did you mean {close[0]}?" if close else ""


def _version() -> str:
    from vpr import __version__

    return __version__
