"""Open footage with PyAV, with clear error messages."""

from __future__ import annotations

import codecs
import os
from fractions import Fraction
from typing import Any, NamedTuple

from vpr.errors import VPRError

MAX_PIXELS = 8192 * 8192  # pixels per frame; larger frames are rejected before memory is allocated
MAX_PIXELS_PER_BYTE = 10_000  # of a picture; an empty PNG of one bit per pixel has 8000
ALWAYS_ALLOWED_PIXELS = 2048 * 2048  # up to here the size of the file is not considered
# Protocols that footage may use: a playlist can name other files and machines. One from the network
# cannot read local files, and a local one cannot contact the network.
NETWORK_PROTOCOLS = (
    "http,https,httpproxy,tls,tcp,udp,rtp,srtp,rtsp,rtsps,rtmp,rtmps,rtmpt,rtmpts,srt,hls,crypto"
)
LOCAL_PROTOCOLS = "file"
NETWORK_TIMEOUT = 30.0  # seconds without data from the network


class Opening(NamedTuple):
    """The arguments to open a container."""

    name: str  # as the user gave it
    what: Any  # what PyAV opens
    format: str | None = None  # v4l2, lavfi, …; None: detected by PyAV
    options: dict[str, str] | None = None
    rate: Fraction | None = None  # for files without times
    threads: int = 1


def require_av() -> Any:
    """Import PyAV, which is an optional dependency."""
    try:
        import av
    except ImportError:
        raise VPRError("reading video needs PyAV: pip install 'vpr-torch[video]'") from None
    return av


def open_container(opening: Opening) -> Any:
    """Open a container and set up its video stream."""
    av = require_av()
    name = opening.name
    options = {
        "max_pixels": str(_max_pixels(opening)),
        **_whitelist(opening),
        **(opening.options or {}),
    }
    try:
        container = av.open(
            opening.what,
            format=opening.format,
            options=options,
            metadata_errors="replace",
            timeout=NETWORK_TIMEOUT if "://" in str(opening.what) else None,
        )
    except (av.FFmpegError, OSError) as error:
        raise VPRError(_open_error(name, error)) from error
    except ValueError as error:  # an unknown format, or an invalid name
        raise VPRError(f"cannot open {name}: {error}") from error
    if container.format.name == "tty" and opening.format is None:
        raise VPRError(f"{name} is a text file: give a video")
    _set_up(video_stream(container, name), opening)
    return container


def _whitelist(opening: Opening) -> dict[str, str]:
    """The option that restricts protocols; none for devices, which use none."""
    if opening.format is not None or opening.name.startswith("/dev/"):
        return {}
    if not isinstance(opening.what, str):  # standard input
        return {"protocol_whitelist": "none"}
    remote = "://" in opening.what and not opening.what.startswith("file:")
    return {"protocol_whitelist": NETWORK_PROTOCOLS if remote else LOCAL_PROTOCOLS}


def max_pixels(size: int) -> int:
    """The largest frame that a file of `size` bytes can hold; a claim of more wastes memory."""
    return min(MAX_PIXELS, max(ALWAYS_ALLOWED_PIXELS, MAX_PIXELS_PER_BYTE * size))


def _max_pixels(opening: Opening) -> int:
    """Also limits what FFmpeg decodes while it opens a file."""
    is_file = isinstance(opening.what, str) and os.path.isfile(opening.name)
    return max_pixels(os.path.getsize(opening.name)) if is_file else MAX_PIXELS


def video_stream(container: Any, name: str) -> Any:
    """The best video stream that is not the cover picture of an audio file."""
    from av.stream import Disposition

    moving = [s for s in container.streams.video if not s.disposition & Disposition.attached_pic]
    if not moving:
        sound = "has sound but no video" if container.streams.audio else "has no video stream"
        raise VPRError(f"{name} {sound}: give a video")
    best = container.streams.best("video")
    return best if best in moving else moving[0]


def _set_up(stream: Any, opening: Opening) -> None:
    context, name = stream.codec_context, opening.name
    if context is None:
        raise VPRError(f"{name} has a format that this PyAV cannot decode: convert it first")
    if context.width * context.height > MAX_PIXELS:
        size = f"{context.width}×{context.height}"
        raise VPRError(f"{name} has frames of {size}, more than 8192×8192: scale it down first")
    # One thread by default, because several files can be read in parallel.
    stream.thread_type = "NONE" if opening.threads == 1 else "AUTO"
    context.thread_count = opening.threads
    context.options = {"max_pixels": str(_max_pixels(opening))}


def _open_error(name: str, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{name} does not exist"
    if isinstance(error, PermissionError):
        return f"{name} cannot be read: check its permissions"
    if _is_text(name):
        return f"{name} is not a video file"
    reason = getattr(error, "strerror", None) or str(error)
    return f"{name} cannot be read as video ({reason}): check that it is a complete video"


def _is_text(name: str) -> bool:
    """Whether a file, not a device, starts like text."""
    if not os.path.isfile(name):
        return False
    try:
        with open(name, "rb") as file:
            start = file.read(1024)
        # Incremental, because the last character may be cut.
        text = codecs.getincrementaldecoder("utf-8")().decode(start)
    except (OSError, ValueError):
        return False
    return bool(text) and "\0" not in text
