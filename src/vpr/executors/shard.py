"""`--shard 3/16`: the third of 16 parts of the work, for scripts that start 16 commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from vpr.errors import VPRError

Item = TypeVar("Item")


class Shard(NamedTuple):
    """One of several parts, counted from 1."""

    number: int
    parts: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise VPRError(f"shard must be of the form 3/16, from 1/16 to 16/16, got {text!r}")
        return cls(int(found[1]), int(found[2]))

    def of(self, items: Sequence[Item]) -> list[Item]:
        """Every item is in exactly one shard, if all shards are given the same list."""
        return list(items[self.number - 1 :: self.parts])
