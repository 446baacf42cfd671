"""The Python of docs/how-to/datasets.md runs; every dataset has a section and a picture."""

import re
from pathlib import Path

from vpr.data import DATASETS

DOCS = Path(__file__).parents[2] / "docs" / "how-to"
PAGE = (DOCS / "datasets.md").read_text(encoding="utf-8")


def test_every_piece_of_python_runs() -> None:
    pieces = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(pieces) == 2
    for piece in pieces:
        exec(piece, {})


def test_every_dataset_and_every_picture_is_there() -> None:
    headings = "".join(line for line in PAGE.splitlines() if line.startswith("## "))
    assert all(f"`{name}`" in headings for name in DATASETS)
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", PAGE)
    assert len(pictures) == 5  # one each; nested worlds and footage have pages of their own
    assert all((DOCS / picture).is_file() for picture in pictures)
