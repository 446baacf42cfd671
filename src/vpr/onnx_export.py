"""The model for one frame as an ONNX file; `vpr.onnx_stream` runs it.

The graph is Algorithm 1 for one video. Its inputs are a frame and the state before it, its outputs
the evidence and the state after it. A blocked level computes nothing, as in `Stream`.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from vpr.beliefs import Belief, kl
from vpr.block import Block, BlockState, ComparisonCache
from vpr.errors import VPRError
from vpr.events import Evidence, Window
from vpr.model import VPR
from vpr.state import State
from vpr.utils.config_json import to_dict
from vpr.utils.files import write_bytes
from vpr.utils.tree import tree_map

FRAME = "frame"  # the first input
NEXT = "next."  # prefix of the state after the frame
CONFIG = "vpr.model"  # the key of the configuration in the metadata of the file
INSTALL = "ONNX needs more packages: pip install 'vpr-torch[onnx]'"


def export_onnx(model: VPR, path: Path | str) -> None:
    """Write the model for one frame as an ONNX file.

    Inputs: `frame` (*frame) in [0, 1], and the state before the frame, one input per tensor of
    `vpr.state.State`, named by its fields (`blocks.0.d`, …, `time`); zeros before the first frame.

    Outputs: `kl_static`, `kl_change`, `threshold`, `expected`, `unexpected` and `boundary`, each
    (N,), with the meaning of `vpr.events.Evidence` in `VPR.step`; then the state after the frame,
    with the prefix `next.`. The metadata has the configuration of the model.
    """
    model = deepcopy(model).float().cpu().eval()
    # Clones, because tensors of the initial state that are the same would become the same input.
    step, state = Step(model), [leaf.clone() for leaf in leaves(model.initial(1))]
    names = list(named(model.initial(1)))
    try:
        with _quiet(), torch.no_grad():
            program = torch.onnx.export(
                step,
                (torch.zeros(model.config.frame), state),
                dynamo=True,
                verbose=False,
                input_names=[FRAME, *names],
                output_names=[*Evidence._fields, *(NEXT + name for name in names)],
            )
    except ImportError as error:
        raise VPRError(INSTALL) from error
    assert program is not None
    program.model.metadata_props[CONFIG] = json.dumps(to_dict(model.config))
    write_bytes(Path(path), program.model_proto.SerializeToString())


def named(state: State) -> dict[str, Tensor]:
    """The tensors of a state with the names of the inputs, to continue a `Stream` in the graph."""
    return dict(zip(_names(state, ""), leaves(state), strict=True))


def leaves(state: State) -> list[Tensor]:
    """The tensors of a state, from left to right."""
    found: list[Tensor] = []

    def add(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    tree_map(add, state)
    return found


class Step(nn.Module):
    """Algorithm 1 for one frame of one video, in the form that can be exported.

    Plain version: `VPR.step`, compared in tests/test_onnx_export.py.
    """

    def __init__(self, model: VPR) -> None:
        super().__init__()
        self.model, self.form = model, model.initial(1)

    def forward(self, frame: Tensor, state: list[Tensor]) -> list[Tensor]:
        """The evidence, each field (N,), and the state after the frame."""
        before = self._before(state)
        seen = self._detect(frame, before)
        blocks = self._infer(before, seen)
        evidence = [torch.cat(field) for field in zip(*seen.evidence, strict=True)]
        return [*evidence, *leaves(State(blocks, seen.windows, before.time + 1))]

    def _before(self, state: list[Tensor]) -> State:
        """The state with windows as in a new one, if there was no frame before."""
        coming = iter(state)
        before = tree_map(lambda _: next(coming), self.form)

        def filled(new: Tensor, old: Tensor) -> Tensor:
            return torch.where(before.time == 0, new, old)

        return before._replace(windows=tree_map(filled, self.form.windows, before.windows))

    def _detect(self, frame: Tensor, state: State) -> _Seen:
        """Event detection, bottom-up. A level above 2 is encoded and compared only if the level
        below updates."""
        model, levels = self.model, self.model.levels()
        opening = state.time == 0
        unknown = torch.full_like(state.blocks[0].s[:, 0], torch.nan)
        evidence = [Evidence.not_compared(torch.ones_like(opening), unknown)]
        x = levels[0].f_enc(model.codec.encode(model.codec.to_layout(frame.unsqueeze(0))))
        projected, windows = [levels[0].project(x)], []
        for n, block in enumerate(levels[1:], start=1):
            inputs = x, *_cache_leaves(state.blocks[n])
            if n == 1:  # every frame reaches level 2
                found = _compared(block)(*inputs)
            else:
                reached = evidence[-1].boundary
                found = torch.cond(reached.squeeze(0), _compared(block), _nothing(block), inputs)
            x, x_n, kl_static, kl_change = found
            arrives = evidence[-1].boundary & ~opening
            window = state.windows[n - 1]
            decision = model.rule.decide(n + 1, state.time, kl_static, kl_change, window.mean())
            evidence.append(decision.evidence(kl_static, kl_change).masked(arrives, opening))
            projected.append(x_n)
            windows.append(_pushed(window, kl_static, arrives))
        return _Seen(evidence, projected, tuple(windows))

    def _infer(self, state: State, seen: _Seen) -> tuple[BlockState, ...]:
        """Inference, top-down, of the levels that update."""
        levels, blocks = self.model.levels(), list(state.blocks)
        c = torch.zeros_like(blocks[-1].c)
        for n in reversed(range(1, len(levels))):
            old = blocks[n]._replace(c=c)
            inputs = seen.projected[n], blocks[n - 1].c, *_block_leaves(old)
            update = seen.evidence[n].boundary.squeeze(0)
            c, *new = torch.cond(update, _updated(levels[n], old), _kept, inputs)
            blocks[n] = _rebuilt(old, new)
        d_next = blocks[0].d_next
        blocks[0] = levels[0].update(d_next, seen.projected[0], c, None)
        return tuple(blocks)


class _Seen(NamedTuple):
    evidence: list[Evidence]
    projected: list[Tensor]  # x of each level (1, H)
    windows: tuple[Window, ...]


Branch = Callable[..., tuple[Tensor, ...]]


def _compared(block: Block) -> Branch:
    """x^n (1, D), the projected x (1, H), D_st and D_ch (1,)."""

    def branch(x: Tensor, mean: Tensor, std: Tensor, contexts: Tensor) -> tuple[Tensor, ...]:
        x = block.f_enc(x)
        projected = block.project(x)
        q = block.q.given(projected.unsqueeze(1) + contexts)
        divergence = kl(q, Belief(mean, std))  # (1, 2)
        return x, projected, *map(_copy, divergence.unbind(1))

    return branch


def _nothing(block: Block) -> Branch:
    """What stands for the results of `_compared` at a level that is not reached."""
    width = block.width

    def branch(x: Tensor, mean: Tensor, std: Tensor, contexts: Tensor) -> tuple[Tensor, ...]:
        none = x.new_full((1,), torch.nan)
        return x.new_zeros(1, width), x.new_zeros(1, width), none, _copy(none)

    return branch


def _updated(block: Block, form: BlockState) -> Branch:
    """c of the level below, and the new state of the level."""

    def branch(x: Tensor, below: Tensor, *old: Tensor) -> tuple[Tensor, ...]:
        now = _rebuilt(form, list(old))
        new = block.update(now.d_next, x, now.c, None)
        return block.f_dec(new.c, new.s), *map(_copy, _block_leaves(new))

    return branch


def _kept(x: Tensor, below: Tensor, *old: Tensor) -> tuple[Tensor, ...]:
    return _copy(below), *map(_copy, old)


def _copy(tensor: Tensor) -> Tensor:
    """The outputs of a branch must be separate tensors without gaps."""
    return tensor.clone(memory_format=torch.contiguous_format)


def _pushed(window: Window, value: Tensor, arrives: Tensor) -> Window:
    """The window after a comparison, or unchanged if there was none."""
    place = torch.arange(window.values.shape[1]) == window.pushed % window.values.shape[1]
    values = torch.where(place & arrives, value, window.values)
    return Window(values, window.pushed + arrives.long())


def _cache_leaves(block: BlockState) -> tuple[Tensor, Tensor, Tensor]:
    assert block.cache is not None
    return block.cache.p.mean, block.cache.p.std, block.cache.contexts


def _block_leaves(block: BlockState) -> list[Tensor]:
    cache = () if block.cache is None else _cache_leaves(block)
    return [block.d, block.c, block.s, *block.q, block.d_next, *cache]


def _rebuilt(form: BlockState, values: list[Tensor]) -> BlockState:
    d, c, s, mean, std, d_next, *cache = values
    p_mean, p_std, contexts = cache
    return BlockState(
        d, c, s, Belief(mean, std), d_next, ComparisonCache(Belief(p_mean, p_std), contexts)
    )


def _names(tree: Any, prefix: str) -> Iterator[str]:
    """The names of the tensors in a tree, for example `blocks.0.q.mean`."""
    if isinstance(tree, Tensor):
        yield prefix
    elif tree is not None:
        fields = getattr(tree, "_fields", range(len(tree)))
        for name, branch in zip(fields, tree, strict=True):
            yield from _names(branch, f"{prefix}.{name}" if prefix else str(name))


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the messages of the exporter, which do not concern the user."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
