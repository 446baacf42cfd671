"""Films edited from real clips, with frame-exact labels of every transition and distractor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.data.base import OnProgress
from vpr.data.clips import Clip, Decoder, memory_mapped
from vpr.data.effects import Distractor, draw_distractor, flashed, inset, shake_offset
from vpr.errors import VPRError
from vpr.utils.cache_folder import cache_folder
from vpr.video.fit import Fit, scale
from vpr.video.frames import Picture

Transition = Literal["cut", "dissolve", "fade"]
SOURCE_SCALE = 1.5  # of decoded clips relative to the film, to keep windows of them sharp


class Piece(NamedTuple):
    """Frames of a file from `first` to `last` (exclusive) that contain no transition."""

    path: str
    first: int
    last: int


class Boundary(NamedTuple):
    """A transition to another shot.

    `first` is the first frame that differs from the old shot, `last` the first frame that shows
    the new shot alone; they are equal for a cut.
    """

    kind: Transition
    first: int
    last: int


class Shot(NamedTuple):
    """A window of a piece; `start` is its first frame in the film."""

    piece: int
    offset: int
    start: int
    frames: int
    window: tuple[float, float, float]  # top, left and size, relative to the picture
    mirrored: bool


class Film(NamedTuple):
    """An edited film; `Montage.pictures` renders it."""

    shots: list[Shot]
    boundaries: list[Boundary]
    distractors: list[Distractor]
    frames: int


@dataclass(frozen=True)
class Montage:
    """Edits films from pieces of real clips.

    Every shot is a random window of a random piece, sometimes mirrored. Successive shots come from
    different pieces. They are joined by cuts, dissolves of 5 to 25 frames, and fades through black
    or white. Some shots have a distractor, which is not a transition: a flash, a shaking camera, or
    another clip as a picture in the picture.
    """

    pieces: tuple[Piece, ...]
    height: int = 180
    width: int = 320
    min_shot_frames: int = 35  # frames of a shot, without its transitions
    max_shot_frames: int = 110
    gradual_share: float = 1 / 3  # share of dissolves and fades
    distractor_share: float = 0.3  # share of shots with a distractor
    cache: str = ""  # folder of decoded clips; empty for the user cache

    def prepare(self, on_progress: OnProgress | None = None) -> None:
        """Decode clips that are not in the cache."""
        self._clips(on_progress)

    def plan(self, shots: int, rng: np.random.Generator) -> Film:
        """Draw a film of `shots` shots."""
        kinds = [self._transition(rng) for _ in range(shots - 1)]
        plan: list[Shot] = []
        boundaries: list[Boundary] = []
        start, before = 0, 0  # `before`: frames at the start of a shot that belong to a transition
        for number in range(shots):
            after = kinds[number][1] if number < len(kinds) else 0
            piece = self._piece(before + after, plan[-1].piece if plan else None, rng)
            shot = self._shot(piece, start, before + after, rng)
            plan.append(shot)
            if number < len(kinds):
                kind, span = kinds[number]
                end = shot.start + shot.frames
                overlap = span if kind == "dissolve" else 0
                start = end - overlap
                # A fade leaves one shot in its first half and enters the next in its second.
                last = end if kind != "fade" else end + span
                boundaries.append(Boundary(kind, end - span, last))
                before = span
        distractors = self._distractors(plan, boundaries, rng)
        return Film(plan, boundaries, distractors, plan[-1].start + plan[-1].frames)

    def pictures(self, film: Film) -> Iterator[Picture]:
        """The frames (H, W, 3) of a film, one by one."""
        clips = self._clips(None)
        for frame in range(film.frames):
            yield self._picture(film, frame, clips)

    def _transition(self, rng: np.random.Generator) -> tuple[Transition, int]:
        """A kind, and its frames in each of the two shots."""
        if rng.random() >= self.gradual_share:
            return "cut", 0
        length = int(rng.integers(5, 26))
        return ("dissolve", length) if rng.random() < 0.7 else ("fade", length // 2)

    def _piece(self, extra: int, other_than: int | None, rng: np.random.Generator) -> int:
        """A piece that is long enough for a shot with `extra` frames of transitions."""
        least = self.min_shot_frames + extra
        usable = [n for n, piece in enumerate(self.pieces) if piece.last - piece.first >= least]
        if not (others := [n for n in usable if n != other_than]):
            raise VPRError(f"a montage needs two pieces of {least} frames or more")
        return int(rng.choice(others))

    def _shot(self, piece: int, start: int, extra: int, rng: np.random.Generator) -> Shot:
        available = self.pieces[piece].last - self.pieces[piece].first
        longest = min(self.max_shot_frames + extra, available)
        frames = int(rng.integers(self.min_shot_frames + extra, longest + 1))
        size = float(rng.uniform(1 / SOURCE_SCALE, 1))
        top, left = (float(rng.uniform(0, 1 - size)) for _ in range(2))
        offset = int(rng.integers(available - frames + 1))
        return Shot(piece, offset, start, frames, (top, left, size), bool(rng.random() < 0.5))

    def _distractors(
        self,
        shots: Sequence[Shot],
        boundaries: Sequence[Boundary],
        rng: np.random.Generator,
    ) -> list[Distractor]:
        """Distractors in the part of a shot that no transition changes."""
        ends = [each.first for each in boundaries] + [shots[-1].start + shots[-1].frames]
        starts = [0] + [each.last for each in boundaries]
        found = []
        for first, last in zip(starts, ends, strict=True):
            if rng.random() < self.distractor_share and last - first >= self.min_shot_frames:
                piece = int(rng.integers(len(self.pieces)))
                found.append(draw_distractor(first, last, piece, rng))
        return found

    def _picture(self, film: Film, frame: int, clips: dict[str, Clip]) -> Picture:
        """One frame: the shots that are visible, blended, and the distractor if there is one."""
        distractor = next((d for d in film.distractors if d.first <= frame < d.last), None)
        number = sum(shot.start <= frame for shot in film.shots) - 1
        shot = film.shots[number]
        picture = self._frame(shot, frame, clips, distractor)
        after = film.boundaries[number] if number < len(film.boundaries) else None
        before = film.boundaries[number - 1] if number else None
        if before is not None and before.first <= frame < before.last:
            share = (frame - before.first + 1) / (before.last - before.first + 1)
            if before.kind == "dissolve":
                old = self._frame(film.shots[number - 1], frame, clips, None)
                return _mixed(old, picture, share)
            return _faded(picture, 2 * share - 1, number)
        if after is not None and after.kind == "fade" and after.first <= frame:
            share = (frame - after.first + 1) / (after.last - after.first + 1)
            return _faded(picture, 1 - 2 * share, number + 1)
        return self._distracted(picture, frame, clips, distractor)

    def _distracted(
        self, picture: Picture, frame: int, clips: dict[str, Clip], distractor: Distractor | None
    ) -> Picture:
        if distractor is None or distractor.kind == "shake":  # a shake moves the window
            return picture
        if distractor.kind == "flash":
            return flashed(picture, distractor.strength)
        piece = self.pieces[distractor.piece]
        place = piece.first + (frame - distractor.first) % (piece.last - piece.first)
        whole = memory_mapped(clips[piece.path].path)[place].transpose(1, 2, 0)
        return inset(picture, whole, distractor)

    def _frame(
        self, shot: Shot, frame: int, clips: dict[str, Clip], distractor: Distractor | None
    ) -> Picture:
        """The window of a shot's clip, in the size of the film."""
        piece = self.pieces[shot.piece]
        place = min(piece.first + shot.offset + frame - shot.start, piece.last - 1)
        whole: NDArray[np.uint8] = memory_mapped(clips[piece.path].path)[place]  # (3, h, w)
        top, left, size = shot.window
        if distractor is not None and distractor.kind == "shake":
            down, right = shake_offset(distractor, frame)
            top, left = (float(np.clip(x, 0, 1 - size)) for x in (top + down, left + right))
        height, width = whole.shape[1:]
        rows = slice(round(top * height), round((top + size) * height))
        columns = slice(round(left * width), round((left + size) * width))
        part = whole[:, rows, columns].transpose(1, 2, 0)
        part = part[:, ::-1] if shot.mirrored else part
        return scale(np.ascontiguousarray(part), self.height, self.width)

    def _clips(self, on_progress: OnProgress | None) -> dict[str, Clip]:
        """The decoded clips by path."""
        height, width = (round(side * SOURCE_SCALE) for side in (self.height, self.width))
        folder = Path(self.cache) if self.cache else cache_folder() / "montage"
        paths = list(dict.fromkeys(piece.path for piece in self.pieces))
        clips = Decoder(folder, Fit(height, width, 3, "crop")).decode(paths, on_progress)
        if len(clips) != len(paths):
            raise VPRError(f"{len(paths) - len(clips)} clips of the montage cannot be read")
        return dict(zip(paths, clips, strict=True))


def _mixed(old: Picture, new: Picture, share: float) -> Picture:
    mixed: Picture = (old * (1 - share) + new * share).round().astype(np.uint8)
    return mixed


def _faded(picture: Picture, share: float, number: int) -> Picture:
    """A share of the picture on black; every fourth fade goes through white."""
    background = 255 if number % 4 == 0 else 0
    return _mixed(np.full_like(picture, background), picture, max(share, 0.0))
