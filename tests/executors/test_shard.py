"""`--shard`: every item is in one shard, and mistakes are one line."""

import pytest

from vpr.errors import VPRError
from vpr.executors.executor import Shard


def test_every_item_is_in_exactly_one_shard() -> None:
    items = list(range(50))
    parts = [Shard.parse(f"{number}/16").of(items) for number in range(1, 17)]
    assert sorted(item for part in parts for item in part) == items
    assert {len(part) for part in parts} == {3, 4}


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "a/b", "-1/4", "1/0", "1/4/2", ""])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(VPRError, match="of the form 3/16"):
        Shard.parse(text)
