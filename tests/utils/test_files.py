"""Files that several processes write, and malformed files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from vpr.errors import VPRError
from vpr.utils import files
from vpr.utils.files import read_json, read_tensors, step_lines, write_tensors, write_text
from vpr.utils.printable import printable

WRITER = """
import sys
from pathlib import Path
from vpr.utils.files import write_parts
path, mark = Path(sys.argv[1]), sys.argv[2]
for _ in range(60):
    write_parts(path, (mark * 1000 for _ in range(200)))
"""


def test_three_processes_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "shared.txt"
    words = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*words, mark], stderr=subprocess.PIPE) for mark in "abc"]
    seen: set[str] = set()
    while any(writer.poll() is None for writer in writers):
        if path.exists():
            seen.add(path.read_text())
    assert [writer.wait() for writer in writers] == [0, 0, 0], writers[0].stderr.read()
    assert seen <= {mark * 200_000 for mark in "abc"}  # never mixed, never cut short
    assert [each.name for each in tmp_path.iterdir()] == ["shared.txt"]


def test_the_old_file_can_be_kept(tmp_path: Path) -> None:
    path, previous = tmp_path / "now.bin", tmp_path / "before.bin"
    for content in (b"1", b"2", b"3"):
        files.write_bytes(path, content, previous)
    assert (path.read_bytes(), previous.read_bytes()) == (b"3", b"2")


def test_the_old_file_stays_where_links_are_impossible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", link)
    for content in (b"1", b"2"):
        files.write_bytes(tmp_path / "now", content, tmp_path / "before")
    assert ((tmp_path / "now").read_bytes(), (tmp_path / "before").read_bytes()) == (b"2", b"1")


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    write_text(tmp_path / ("n" * 255), "x")
    assert (tmp_path / ("n" * 255)).read_text() == "x"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 3000 + "]" * 3000, "nested too deeply"),
        ("1" + "0" * 400, "401 digits"),
        ("9" * 5000, "is not valid JSON"),
        ('{"a": 1', "is not valid JSON"),
    ],
)
def test_json_is_bounded(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(VPRError, match=words):
        read_json(tmp_path / "a.json")


def test_json_that_is_not_text_or_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(VPRError, match="is not UTF-8"):
        read_json(path)
    monkeypatch.setattr(files, "MAX_JSON_BYTES", 5)
    with pytest.raises(VPRError, match="is larger than"):
        read_json(path)


def test_file_names_that_are_not_text_survive_json(tmp_path: Path) -> None:
    name = os.fsdecode(b"a\xff.mp4")
    files.write_json(tmp_path / "a.json", {"name": name})
    (tmp_path / "a.json").read_text(encoding="utf-8")
    assert read_json(tmp_path / "a.json") == {"name": name}


def test_damaged_lines_are_left_out(tmp_path: Path) -> None:
    good = [b'{"step": %d, "loss": 1.5}' % step for step in range(1, 5)]
    lines = [
        good[0],
        b'{"st\xffep": 2}',
        b"[" * 5000,
        b"7",
        good[2],
        b'{"step": "x"}',
        good[3][:-4],
    ]
    (tmp_path / "log").write_bytes(b"\n".join(lines))
    assert [line["step"] for line in step_lines(tmp_path / "log")] == [1, 3]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.bool, torch.float32])
def test_every_type_of_tensor_has_a_checksum(tmp_path: Path, dtype: torch.dtype) -> None:
    tensors = {"a": torch.ones(2, 3).to(dtype), "b": torch.tensor(1).to(dtype)}
    write_tensors(tmp_path / "t", tensors, {})
    read, _ = read_tensors(tmp_path / "t")
    assert all(torch.equal(read[name], tensors[name]) for name in tensors)


def test_terminals_are_sent_no_commands() -> None:
    assert printable("a\x1b[2J\x9b\n\u202eb") == "a\\u001b[2J\\u009b\\u000a\\u202eb"
    assert printable("Ümläut 映画 [x]") == "Ümläut 映画 [x]"
