"""Montages: every label is exact, and training and test clips are disjoint."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vpr.data.effects import MARGIN
from vpr.data.montage import Film, Montage, Piece
from vpr.errors import VPRError
from vpr.experiments.footage.real_clips import CLIPS, pieces

LENGTH = 160


@pytest.fixture(scope="module")
def montage(tmp_path_factory: pytest.TempPathFactory) -> Montage:
    """Clips of one colour each, so that a frame tells its shot."""
    folder = tmp_path_factory.mktemp("clips")
    made = []
    for n in range(4):
        clip = np.full((LENGTH, 12, 16, 3), 40 * n + 20, np.uint8)
        np.save(folder / f"{n}.npy", clip)
        made.append(Piece(str(folder / f"{n}.npy"), 5, LENGTH - 5))
    return Montage(
        tuple(made), 12, 16, gradual_share=0.6, distractor_share=0.0, cache=str(folder / "cache")
    )


def brightness(montage: Montage, film: Film) -> np.ndarray:
    return np.array([picture.mean() for picture in montage.pictures(film)])


def test_boundaries_are_exact(montage: Montage) -> None:
    film = montage.plan(40, np.random.default_rng(0))
    shown = brightness(montage, film)
    assert len(shown) == film.frames
    assert {each.kind for each in film.boundaries} == {"cut", "dissolve", "fade"}
    changing = np.zeros(film.frames, bool)
    for each in film.boundaries:
        assert each.last - each.first == 0 if each.kind == "cut" else each.last - each.first >= 4
        assert each.last - each.first <= 25
        changing[each.first : each.last + 1] = True
        # The first frame differs from the frame before, the last one does not from the next.
        assert shown[each.first] != shown[each.first - 1]
        assert shown[each.last] == shown[each.last + 1]
    steps = np.flatnonzero(np.diff(shown)) + 1
    assert changing[steps].all()


def test_a_shot_shows_its_piece_and_no_piece_twice_in_a_row(montage: Montage) -> None:
    film = montage.plan(40, np.random.default_rng(1))
    assert all(a.piece != b.piece for a, b in zip(film.shots, film.shots[1:], strict=False))
    for shot in film.shots:
        assert 0 <= shot.offset <= LENGTH - 10 - shot.frames
    between = [
        (a.last, b.first) for a, b in zip(film.boundaries, film.boundaries[1:], strict=False)
    ]
    assert min(b - a for a, b in between) >= montage.min_shot_frames


def test_distractors_are_apart_from_boundaries_and_visible(montage: Montage) -> None:
    distracted = Montage(**(vars(montage) | {"distractor_share": 1.0, "gradual_share": 0.0}))
    film = distracted.plan(40, np.random.default_rng(2))
    assert {each.kind for each in film.distractors} == {"flash", "shake", "inset"}
    marks = [0, *(each.first for each in film.boundaries), film.frames]
    shown = brightness(distracted, film)
    for each in film.distractors:
        assert (
            min(abs(mark - frame) for mark in marks for frame in (each.first, each.last)) >= MARGIN
        )
        if each.kind == "flash":
            assert (shown[each.first : each.last] > shown[each.first - 1]).all()
            assert shown[each.last] == shown[each.first - 1]


def test_a_seed_gives_the_same_film(montage: Montage) -> None:
    one, other = (montage.plan(10, np.random.default_rng(3)) for _ in range(2))
    assert one == other
    assert one != montage.plan(10, np.random.default_rng(4))


def test_too_few_pieces_are_an_error(montage: Montage) -> None:
    alone = Montage(montage.pieces[:1], cache=montage.cache)
    with pytest.raises(VPRError, match="needs two pieces"):
        alone.plan(2, np.random.default_rng(0))


def test_training_and_test_clips_are_disjoint() -> None:
    training, test = ({piece.path for piece in pieces(Path("x"), p)} for p in ("training", "test"))
    assert training
    assert test
    assert not training & test
    assert len({clip.file for clip in CLIPS}) == len(CLIPS)  # no file overwrites another
