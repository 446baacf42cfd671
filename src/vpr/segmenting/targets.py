"""Which pieces of footage, and what their files are to be called."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path, PurePath
from typing import NamedTuple

from vpr.errors import VPRError
from vpr.video import footage
from vpr.video.finding import is_address


class Target(NamedTuple):
    """A piece of footage; its files are `out / name` with endings."""

    source: str
    name: str


class Found(NamedTuple):
    targets: list[Target]
    failed: dict[str, str]  # what was named → what is wrong with it


def find(named: Sequence[str], taken: Callable[[str, str], bool]) -> Found:
    """All that the user named. `taken(name, source)`: has other footage files of this name?

    A folder keeps its structure; a file is called by its name alone, as long as that is clear, and
    by more and more of its path, in the end with its .mp4, if it is not.
    """
    choices: dict[str, list[str]] = {}
    failed: dict[str, str] = {}
    seen: set[str] = set()  # a file may be named twice, in two ways
    for each in named:
        try:
            for source in footage(each):
                if identity(source) not in seen:
                    seen.add(identity(source))
                    choices[source] = _names(source, each)
        except VPRError as error:
            failed[each] = str(error)
    return Found(_distinct(choices, taken), failed)


def identity(source: str) -> str:
    """The same for all ways to write a path."""
    return source if is_address(source) else os.path.abspath(source)


def _names(source: str, named: str) -> list[str]:
    """What it may be called, the shortest first; the last is its whole path."""
    if is_address(source):
        name = re.sub(r"[^\w.-]+", "-", source).strip("-.") or "standard-input"
        return [name, f"{name}-{sha256(source.encode()).hexdigest()[:8]}"]
    parts = [_plain(part) for part in Path(os.path.abspath(source)).parts]
    inside = len(PurePath(os.path.relpath(source, named)).parts) if os.path.isdir(named) else 1
    names = ["/".join(parts[-count:]) for count in range(max(inside, 1), len(parts))]
    plain = [re.sub(r"(?<=[^/])\.\w+$", "", name) for name in names]  # without .mp4
    return [*plain, *names]


def _plain(part: str) -> str:
    """Never a way out of the folder, and no drive."""
    return part.replace(":", "") if part not in ("", ".", "..") else "_"


def _distinct(choices: dict[str, list[str]], taken: Callable[[str, str], bool]) -> list[Target]:
    """Whoever shares a name, or is not the first to have it, takes a longer one."""
    place = dict.fromkeys(choices, 0)
    while True:
        now = {source: choices[source][place[source]] for source in choices}
        shared = Counter(name.casefold() for name in now.values())  # some disks know no case
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
