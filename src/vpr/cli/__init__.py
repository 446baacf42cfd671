"""The `vpr` command: parse, call, print."""

from vpr.cli.main import main

__all__ = ["main"]
