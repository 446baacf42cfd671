"""Where a result comes from: code, package versions and machine."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import numpy as np
import torch

import vpr
from vpr.utils.code_digest import PACKAGE, code_digest


def provenance(package: Path = PACKAGE) -> dict[str, str]:
    """Commit of the source, digest of the training code, package versions, and model of the CPU."""
    return {
        "commit": _commit(package),
        "training_code": code_digest(),
        "vpr": vpr.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "cpu": _cpu(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
    }


def _commit(package: Path) -> str:
    """The git commit of the source, with `-dirty` if it was changed; "unknown" if installed.

    Only changes in the folder of the package count: results are written beside it.
    """
    try:
        commit = _git(package, "rev-parse", "HEAD")
        changed = _git(package, "status", "--porcelain", "--untracked-files=no", "--", ".")
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return f"{commit}-dirty" if changed else commit


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=10, check=True
    ).stdout.strip()


def _cpu() -> str:
    """Model name of the CPU, or its architecture if the name is not available."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
