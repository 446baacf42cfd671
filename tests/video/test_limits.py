"""Footage that claims too much, names other files, or cannot be decoded."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.segmenting.made import scenes, write_video
from vpr import VPRError, segment
from vpr.video import open_footage
from vpr.video.pyav import Opening, _whitelist, max_pixels

MEMORY = """
import resource, sys
from vpr.video import Fit, open_footage
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    list(open_footage(sys.argv[1], fit=Fit(16, 16)))
except Exception as error:
    print(type(error).__name__)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def tiny_png(side: int) -> bytes:
    """A PNG of 70 bytes that claims side × side pixels of 16 bits."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", side, side, 16, 6, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(9))) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units")
@pytest.mark.parametrize("what", ["one", "folder"])
def test_a_small_picture_cannot_claim_much_memory(tmp_path: Path, what: str) -> None:
    (tmp_path / "a.png").write_bytes(tiny_png(8192))
    path = tmp_path / "a.png" if what == "one" else tmp_path
    words = [sys.executable, "-c", MEMORY, str(path)]
    out = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert out[0] == "VPRError"
    assert int(out[1]) < 100  # MB


def test_what_is_possible_is_read(tmp_path: Path) -> None:
    Image.new("1", (4096, 4096)).save(tmp_path / "black.png")
    size = (tmp_path / "black.png").stat().st_size
    assert max_pixels(size) >= 4096 * 4096
    for path in (tmp_path / "black.png", tmp_path):
        assert len(list(open_footage(path))) == 1


@pytest.mark.parametrize(
    ("name", "what", "allowed", "forbidden"),
    [
        ("a.mp4", "file:/x/a.mp4", "file", "http"),
        ("https://x/a.m3u8", "https://x/a.m3u8", "https", "file"),
        ("file:///etc/passwd", "file:///etc/passwd", "file", "http"),
        ("rtsp://x/a", "rtsp://x/a", "udp", "file"),
    ],
)
def test_footage_names_protocols_of_its_own_kind_only(
    name: str, what: str, allowed: str, forbidden: str
) -> None:
    protocols = _whitelist(Opening(name, what))["protocol_whitelist"].split(",")
    assert allowed in protocols
    assert forbidden not in protocols


@pytest.mark.parametrize("target", ["http://127.0.0.1:9/a.ts", "concat:a.ts|b.ts", "subfile:x"])
def test_a_local_playlist_contacts_nobody(tmp_path: Path, target: str) -> None:
    lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:5", "#EXTINF:5,", target, "#EXT-X-ENDLIST"]
    (tmp_path / "a.m3u8").write_text("\n".join(lines))
    with pytest.raises(VPRError):
        list(open_footage(tmp_path / "a.m3u8"))


def test_frames_that_cannot_be_decoded_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(5):
        Image.new("RGB", (20, 20), (50 * number,) * 3).save(folder / f"{number}.png")
    (folder / "2.png").write_bytes(b"x")
    np.save(tmp_path / "a.npy", np.zeros((6, 20, 20, 3), np.uint8))
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-3000])
    for path, frames, undecodable in ((folder, 4, 1), (tmp_path / "a.npy", 3, 3)):
        source = open_footage(path)
        assert (len(list(source)), source.undecodable) == (frames, undecodable)
    timeline = segment(folder, "moving-ball")
    assert timeline.undecodable == 1
    timeline.to_json(tmp_path / "a.json")
    timeline.to_html(tmp_path / "a.html")
    assert type(timeline).from_json(tmp_path / "a.json").undecodable == 1
    assert "1 more could not be decoded" in (tmp_path / "a.html").read_text()


def test_packets_that_cannot_be_decoded_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    write_video(path, scenes(30, seed=0))
    whole = open_footage(path)
    assert (len(list(whole)), whole.undecodable) == (30, 0)
    content = bytearray(path.read_bytes())
    start = content.index(b"mdat") + 4
    middle = start + (len(content) - start) // 4
    content[middle : middle + 400] = b"\xff" * 400
    path.write_bytes(content)
    damaged = open_footage(path)
    read = len(list(damaged))
    assert damaged.undecodable > 0
    assert read + damaged.undecodable == 30
