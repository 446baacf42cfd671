"""Save and load the state of a stream, to continue in another process. Nothing is pickled."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor

from vpr.errors import VPRError
from vpr.model import VPR
from vpr.pretrained import fingerprint
from vpr.state import State
from vpr.utils.files import read_tensors, write_tensors
from vpr.utils.tree import tree_map


def save_state(path: Path | str, state: State, model: VPR) -> None:
    """Write a state and the fingerprint of its model, to be read with `load_state`."""
    write_tensors(Path(path), _named(state), {"model": fingerprint(model)})


def load_state(path: Path | str, model: VPR) -> State:
    """Read a state that was saved with the same weights."""
    tensors, notes = read_tensors(Path(path))
    if notes.get("model") != fingerprint(model):
        raise VPRError(f"{path} was saved with other weights: use the model that it was saved with")
    template = model.initial(1)
    expected = _named(template)
    if tensors.keys() != expected.keys():
        raise VPRError(f"{path} is not the state of a stream: save it again")
    if not all(_fits(tensors[name], leaf) for name, leaf in expected.items()):
        raise VPRError(f"{path} is damaged: save the state again")
    coming = iter([tensors[name] for name in expected])
    return tree_map(lambda like: next(coming).to(like.device), template)


def _named(state: State) -> dict[str, Tensor]:
    """The tensors of a state, numbered from left to right."""
    tensors: dict[str, Tensor] = {}

    def add(tensor: Tensor) -> Tensor:
        tensors[f"{len(tensors):04d}"] = tensor
        return tensor

    tree_map(add, state)
    return tensors


def _fits(tensor: Tensor, like: Tensor) -> bool:
    """Whether it has the shape and type of `like`, is finite, and has no negative counts."""
    same = tensor.shape == like.shape and tensor.dtype == like.dtype
    if not same or not bool(tensor.isfinite().all()):
        return False
    return like.is_floating_point() or bool((tensor >= 0).all())
