"""Opening what PyAV can decode, with plain words where it cannot."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from vpr.errors import VPRError

LARGEST = 8192 * 8192  # pixels of a frame: beyond, a file is taken for broken, before any are made
SILENCE = 30.0  # seconds that a network may say nothing


class Opening(NamedTuple):
    """What it takes to open footage, once or again."""

    name: str  # what the user called it
    what: Any  # that PyAV opens
    format: str | None = None  # that PyAV need not guess: v4l2, lavfi, …
    options: dict[str, str] | None = None
    rate: Fraction | None = None  # where the file leaves times out and has none
    threads: int = 1


def require_av() -> Any:
    """PyAV, which is an extra."""
    try:
        import av
    except ImportError:
        raise VPRError("reading video needs PyAV: pip install 'vpr-torch[video]'") from None
    return av


def open_container(opening: Opening) -> Any:
    """An open container, its video stream ready to be decoded."""
    av = require_av()
    name = opening.name
    try:
        container = av.open(
            opening.what,
            format=opening.format,
            options={"max_pixels": str(LARGEST), **(opening.options or {})},
            metadata_errors="replace",
            timeout=SILENCE if "://" in str(opening.what) else None,
        )
    except (av.FFmpegError, OSError) as error:
        raise VPRError(_why_not(name, error)) from error
    except ValueError as error:  # a format that is none, or a name that no file can have
        raise VPRError(f"cannot open {name}: {error}") from error
    if container.format.name == "tty" and opening.format is None:
        raise VPRError(f"{name} is a text, not footage")
    _set_up(video_stream(container, name), opening)
    return container


def video_stream(container: Any, name: str) -> Any:
    """The one to watch: not a cover, of which files of sound have one."""
    from av.stream import Disposition

    moving = [s for s in container.streams.video if not s.disposition & Disposition.attached_pic]
    if not moving:
        sound = "has sound but no video" if container.streams.audio else "has no video stream"
        raise VPRError(f"{name} {sound}: give a file with moving pictures")
    best = container.streams.best("video")
    return best if best in moving else moving[0]


def _set_up(stream: Any, opening: Opening) -> None:
    context, name = stream.codec_context, opening.name
    if context is None:
        raise VPRError(f"{name} is in a format that this PyAV cannot decode: convert it first")
    if context.width * context.height > LARGEST:
        size = f"{context.width}×{context.height}"
        raise VPRError(f"{name} states frames of {size}, more than 8192×8192: scale it down first")
    # One thread on purpose: whoever wants more cores has more files, or asks.
    stream.thread_type = "NONE" if opening.threads == 1 else "AUTO"
    context.thread_count = opening.threads
    context.options = {"max_pixels": str(LARGEST)}


def _why_not(name: str, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no {name}"
    if isinstance(error, PermissionError):
        return f"{name} may not be read: see its permissions"
    reason = getattr(error, "strerror", None) or str(error)
    return f"{name} cannot be read as video ({reason}): is it footage, and is it complete?"
