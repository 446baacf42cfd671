"""The commands with their help texts, in the order in which `vpr --help` lists them.

Each is a module of this package with two functions: `declare(parser, words)` adds its arguments,
given the words that follow the command, and `run(arguments)` runs it and returns the exit code.
Modules are imported only when they are used, because importing PyTorch takes more than a second.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

COMMANDS = {
    "demo": "Show the events that a model finds in new sequences.",
    "train": "Train a model from a preset, or resume a run.",
    "segment": "Find the events in footage.",
    "app": "Start a web page that finds the events in uploaded videos.",
    "watch": "Show events of live footage as they happen.",
    "evaluate": "Score the events of a model against ground truth.",
    "evaluate-boundaries": "Score boundaries in files against labels in files.",
    "report": "Write a page about each level of a trained model.",
    "rollout": "Show how each level predicts its next events.",
    "sample": "Show what varies at each level while the others stay constant.",
    "data": "Show a dataset as a picture and a GIF.",
    "push": "Publish a trained model on the Hugging Face Hub.",
    "reproduce": "Reproduce the figures and tables of the paper.",
    "bench": "Measure speed and memory.",
}


def command_module(name: str) -> ModuleType:
    return import_module(f"vpr.cli.{name.replace('-', '_')}")
