"""Find the pieces of footage that the user gave, and choose unique names for their files."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path, PurePath
from typing import NamedTuple

from vpr.errors import VPRError
from vpr.video import find_footage
from vpr.video.finding import is_address


class Target(NamedTuple):
    """A piece of footage; its output files are `out / name` with suffixes."""

    source: str
    name: str


class Found(NamedTuple):
    targets: list[Target]
    failed: dict[str, str]  # argument → error message


def find_targets(named: Sequence[str], taken: Callable[[str, str], bool]) -> Found:
    """All pieces of footage. `taken(name, source)`: whether another source owns files of this name.

    A folder keeps its structure. A file is named by its stem; if that is not unique, by more and
    more of its path, and finally by its whole path with the suffix.
    """
    choices: dict[str, list[str]] = {}
    failed: dict[str, str] = {}
    seen: set[str] = set()  # a file may be given twice, as two paths
    for each in named:
        try:
            for source in find_footage(each):
                if identity(source) not in seen:
                    seen.add(identity(source))
                    choices[source] = _names(source, each)
        except VPRError as error:
            failed[each] = str(error)
    return Found(_distinct(choices, taken), failed)


def identity(source: str) -> str:
    """An absolute path, or the address of a source that is not a file."""
    return source if is_address(source) else os.path.abspath(source)


def _names(source: str, named: str) -> list[str]:
    """Possible names, from the shortest to the whole path."""
    if is_address(source):
        name = re.sub(r"[^\w.-]+", "-", source).strip("-.") or "standard-input"
        return [name, f"{name}-{sha256(os.fsencode(source)).hexdigest()[:8]}"]
    parts = [_plain(part) for part in Path(os.path.abspath(source)).parts]
    inside = len(PurePath(os.path.relpath(source, named)).parts) if os.path.isdir(named) else 1
    names = ["/".join(parts[-count:]) for count in range(max(inside, 1), len(parts))]
    plain = [re.sub(r"(?<=[^/])\.\w+$", "", name) for name in names]  # without .mp4
    return [*plain, *names]


def _plain(part: str) -> str:
    """A path component without drive that cannot leave the output folder."""
    return part.replace(":", "") if part not in ("", ".", "..") else "_"


def _distinct(choices: dict[str, list[str]], taken: Callable[[str, str], bool]) -> list[Target]:
    """The shortest name of each source that is unique and not taken."""
    place = dict.fromkeys(choices, 0)
    while True:
        now = {source: choices[source][place[source]] for source in choices}
        shared = Counter(name.casefold() for name in now.values())  # some file systems ignore case
        unclear = [
            source
            for source, name in now.items()
            if shared[name.casefold()] > 1 or taken(name, source)
        ]
        longer = [source for source in unclear if place[source] + 1 < len(choices[source])]
        if not longer:
            return [Target(source, name) for source, name in now.items()]
        for source in longer:
            place[source] += 1
