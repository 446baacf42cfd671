"""The hierarchy of levels, and Algorithm 1 of the paper.

`VPR.step` is Algorithm 1 for one frame: `_detect` goes bottom-up and decides which levels update,
`_infer` goes top-down and updates them. Both handle levels 2 to N; level 1 updates at every frame
and is handled separately. `VPR.observe` applies the same detection to a whole video, then computes
everything that does not depend on previous frames for all frames at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from vpr.beliefs import Belief, kl
from vpr.block import Block, BlockState, InferenceBlock, Updates
from vpr.config import ModelConfig, make_rule
from vpr.errors import VPRError
from vpr.events import Evidence, Window
from vpr.nets import make_codec
from vpr.nets.likelihood import make_likelihood
from vpr.state import LevelTrace, Loss, State, Trace, UpdateIndex
from vpr.utils.checks import check_frames, check_noise, check_state, check_values
from vpr.utils.tree import tree_map, tree_put, tree_rows

if TYPE_CHECKING:
    from vpr.pretrained import PretrainedVPR

Encodings = Callable[[int], Tensor]  # index of a level → its projected x (B, H)
Nets = Sequence[Block | InferenceBlock]  # level 1 first


class LazyEncodings:
    """The projected x of each level for one frame, computed on first use.

    A level that detection does not reach is therefore never encoded. `x` holds x⁰ and those of x¹,
    x², … that are already known; `projected` holds the known projections by index.
    """

    def __init__(
        self, nets: Nets, x: list[Tensor], projected: dict[int, Tensor] | None = None
    ) -> None:
        self.nets, self.x = nets, x
        self.projected = projected if projected is not None else {}
        self.differentiable = torch.is_grad_enabled()

    def __call__(self, n: int) -> Tensor:
        # Detection comes first and runs without gradients; inference may need them.
        with torch.set_grad_enabled(self.differentiable):
            while len(self.x) <= n + 1:
                self.x.append(self.nets[len(self.x) - 1].f_enc(self.x[-1]))
            if n not in self.projected:
                self.projected[n] = self.nets[n].project(self.x[n + 1])
        return self.projected[n]


class VPR(nn.Module):
    """Variational Predictive Routing with N levels."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.rule = make_rule(config)
        self.likelihood = make_likelihood(config.likelihood)
        self.codec = make_codec(config, self.likelihood.output_scale)
        self.blocks = nn.ModuleList(
            Block(config.width, config.state_size, config.layers, config.min_std, compares=n > 0)
            for n in range(config.levels)
        )
        # Mean D_st of levels 2 to N during training; NaN in an untrained model. New states start
        # with windows of D_st that are filled with it, so criterion CU works from the first frame.
        self.typical_kl: Tensor
        self.register_buffer("typical_kl", torch.full((config.levels - 1,), torch.nan))

    @classmethod
    def from_pretrained(cls, name: str) -> PretrainedVPR:
        """Load a shipped model ("moving-ball"), a run folder, or a Hugging Face repository.

        A repository can be pinned to a commit, tag or branch: `owner/name@revision`.
        """
        from vpr.pretrained import load_model

        return load_model(name)

    def save_pretrained(self, folder: str) -> None:
        """Write the configuration and the weights, to be loaded with `from_pretrained`."""
        from vpr.pretrained import save_pretrained

        save_pretrained(self, folder)

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.typical_kl.device

    @property
    def dtype(self) -> torch.dtype:
        """The floating-point type of the weights."""
        return self.typical_kl.dtype

    def initial(self, batch: int) -> State:
        """The state before the first frame; each window of D_st is filled with `typical_kl`."""
        windows = tuple(Window.filled(batch, self.rule.window, mean) for mean in self.typical_kl)
        blocks = tuple(block.initial(batch, self.typical_kl) for block in self.levels())
        return State(blocks, windows, torch.zeros(batch, dtype=torch.long, device=self.device))

    def step(
        self, state: State, frame: Tensor, noise: Tensor | None = None
    ) -> tuple[State, tuple[Evidence, ...]]:
        """Process one frame (B, *frame): the new state, and the evidence of each level.

        A blocked level computes nothing. `noise` (N, B, S) samples the states; without it they are
        the means of their posteriors.
        """
        check_frames(frame, ("batch",), self.config, self.dtype)
        check_values(frame, self.config)
        check_state(state, self.config, len(frame))
        check_noise(noise, (self.config.levels, len(frame), self.config.state_size))
        nets = self.levels()
        x = LazyEncodings(nets, [self.codec.encode(self.codec.to_layout(frame))])
        state, evidence = self._advance(nets, state, x, noise)
        now, c = state.blocks[0], state.blocks[0].c
        above = evidence[1].boundary if self.config.levels > 1 else torch.zeros_like(state.time)
        rows = _rows(above)
        if len(rows):  # c¹ changes where level 2 did
            c = tree_put(c, rows, self._context(nets, 0, state.blocks, rows), len(c))
        level_one = nets[0].update(now.d_next, x(0), c, _at(noise, 0))
        return state._replace(blocks=(level_one, *state.blocks[1:])), evidence

    def observe(
        self,
        video: Tensor,
        state: State | None = None,
        noise: Tensor | None = None,
    ) -> Trace:
        """Process a video (B, T, *frame). The result equals T calls of `step`.

        `noise` (T, N, B, S) samples the states; without it they are the means of their posteriors.
        Everything that does not depend on previous frames is computed for all frames at once.
        """
        return self.observe_encoded(self._x0(self._layout(video), video), state, noise)

    def reconstruct(self, c0: Tensor) -> Tensor:
        """Decode c⁰ (..., D) to frames (..., *frame); images are clamped to [0, 1]."""
        mean = self.likelihood.mean(self.codec.decode(c0.flatten(0, -2)))
        frames = self.codec.to_frames(mean).reshape(*c0.shape[:-1], *self.config.frame)
        return frames.clamp(0, 1) if len(self.config.frame) == 3 else frames

    def loss(
        self,
        video: Tensor,
        state: State | None = None,
        noise: Tensor | None = None,
        beta: float = 1.0,
        decoded: Tensor | None = None,
    ) -> Loss:
        """−ELBO in nats per frame: Σ_t −ln p(o_t | s) + β Σ_n Σ_τ D_KL[q(s^n_τ) ‖ p(s^n_τ)].

        `decoded` (M,) selects frames of the flattened video (B·T, *frame). If it is given, the
        first sum is estimated from these frames alone, because the decoder takes most of the time.
        """
        y = self._layout(video)
        if video.shape[1] < 2:
            raise VPRError("one frame has no events to learn from: give sequences of 2 or more")
        trace = self.observe_encoded(self._x0(y, video), state, noise)
        c0 = trace.c0.flatten(0, 1)
        if decoded is not None:
            c0, y = c0[decoded], y[decoded]
        reconstruction = self.likelihood.nll(self.codec.decode(c0), y) / len(c0)
        kl = torch.stack([level.kl.mean() for level in trace.levels])
        return Loss(reconstruction + beta * kl.sum(), reconstruction, kl, trace)

    @torch.no_grad()
    def update_typical_kl(self, windows: tuple[Window, ...]) -> None:
        """Set `typical_kl` to the mean of each level's windows of D_st."""
        for n, window in enumerate(windows):
            means = window.mean()  # infinite where a window is still empty
            self.typical_kl[n] = means.where(means.isfinite(), torch.nan).nanmean()

    def noise(self, batch: int, length: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw ε (T, N, B, S) for `observe` and `loss`, on the CPU so that seeds are portable."""
        shape = (length, self.config.levels, batch, self.config.state_size)
        drawn = torch.randn(shape, generator=generator, dtype=self.dtype)
        return drawn.to(self.device)

    def encodings(self, video: Tensor) -> list[Tensor]:
        """The projected x (B, T, H) of each level, level 1 first, for a video (B, T, *frame)."""
        return self._encode(self._x0(self._layout(video), video))

    def prior(self, n: int, d: Tensor, c: Tensor) -> Belief:  # (..., D) twice → (..., S)
        """p(s | d, c) of the level with index n, counted from 0.

        At the top level the first prior is fixed: p(s^N_1) = N(0, 1), where d = 0.
        """
        p: Belief = self.levels()[n].p(d, c)
        return p if n + 1 < self.config.levels else with_fixed_start(p, d)

    def _layout(self, video: Tensor) -> Tensor:
        """Check a video and return its frames y (B·T, …) in the layout of the codec."""
        check_frames(video, ("batch", "time"), self.config, self.dtype)
        check_values(video, self.config)
        return self.codec.to_layout(video.flatten(0, 1))

    def _x0(self, y: Tensor, video: Tensor) -> Tensor:
        """x⁰ (B, T, D) of the frames of a video."""
        return self.codec.encode(y).view(*video.shape[:2], self.config.width)

    def observe_encoded(
        self,
        x0: Tensor,
        state: State | None = None,
        noise: Tensor | None = None,
    ) -> Trace:
        """`observe` without the image network: from x⁰ (B, T, D) to the trace.

        First `detect` decides, frame by frame and without gradients, which levels update at which
        frames. Then the levels are unrolled with gradients, top-down, over their own updates only.
        The returned state carries no gradients.
        """
        batch, length = x0.shape[:2]
        before = state if state is not None else self.initial(batch)
        check_state(before, self.config, batch)
        check_noise(noise, (length, self.config.levels, batch, self.config.state_size))
        x = self._encode(x0)
        after, evidence = self.detect(before, x, noise)
        c, levels = torch.zeros_like(x0), []
        for n in reversed(range(self.config.levels)):
            index = UpdateIndex(evidence[n].boundary)
            eps = noise[:, n].transpose(0, 1) if noise is not None else None
            inputs = tree_map(index.pick, (x[n], c, eps))
            updates, d_next = self.levels()[n].unroll(before.blocks[n].d_next, *inputs)
            level, c = self._trace_level(n, before.blocks[n], x[n], updates, index, evidence[n])
            levels.append(level)
        level_one = BlockState(*tree_map(lambda value: value[:, -1], updates), d_next, None)
        blocks = (tree_map(_detached_copy, level_one), *after.blocks[1:])
        return Trace(c, tuple(levels[::-1]), after._replace(blocks=blocks))

    @torch.no_grad()
    def detect(
        self, state: State, x: list[Tensor], noise: Tensor | None
    ) -> tuple[State, list[Evidence]]:
        """Algorithm 1 without level 1, for projected x (B, T, H) of each level, see `encodings`.

        Returns the state after the video, in which level 1 is unchanged, and the evidence (B, T) of
        each level.
        """
        nets, history = [InferenceBlock(block) for block in self.levels()], []
        for t, x_t in enumerate(zip(*(x_n.unbind(1) for x_n in x), strict=True)):
            state, evidence = self._advance(nets, state, x_t.__getitem__, _at(noise, t))
            history.append(evidence)
        return state, [tree_map(_stacked, *level) for level in zip(*history, strict=True)]

    def _trace_level(
        self,
        n: int,
        before: BlockState,
        x: Tensor,
        updates: Updates,
        index: UpdateIndex,
        evidence: Evidence,
    ) -> tuple[LevelTrace, Tensor]:
        """The trace of level n from its updates, and c^{n−1} (B, T, D) for the level below."""
        if not index.starts_with_update:
            older = Updates(before.d, before.c, before.s, before.q)
            updates = tree_map(_prepended, updates, older)
        p = self.prior(n, updates.d, updates.c)
        s, q, p, divergence = tree_map(index.hold, (updates.s, updates.q, p, kl(updates.q, p)))
        divergence = torch.where(evidence.boundary, divergence, 0.0)
        level = LevelTrace(s, q, p, divergence, evidence, x, updates, index)
        return level, index.hold(self.levels()[n].f_dec(updates.c, updates.s))

    def _advance(
        self, nets: Nets, state: State, x: Encodings, noise: Tensor | None
    ) -> tuple[State, tuple[Evidence, ...]]:
        """Algorithm 1 for one frame, levels 2 to N."""
        with torch.no_grad():
            evidence, windows = self._detect(nets, state, x)
        blocks = self._infer(nets, state, x, evidence, noise)
        return State(blocks, windows, state.time + 1), evidence

    def _detect(
        self, nets: Nets, state: State, x: Encodings
    ) -> tuple[tuple[Evidence, ...], tuple[Window, ...]]:
        """Event detection, bottom-up: the evidence of each level and the new windows of D_st."""
        opening = state.time == 0
        batch, unknown = len(opening), state.blocks[0].s.new_full(opening.shape, torch.nan)
        # Level 1 always updates.
        evidence = [Evidence.not_compared(torch.ones_like(opening), unknown)]
        windows, random = list(state.windows), None
        for n in range(1, self.config.levels):
            arrives = evidence[-1].boundary & ~opening
            rows = _rows(arrives)
            if not len(rows):  # the signal stops here
                evidence += [Evidence.not_compared(opening, unknown)] * (self.config.levels - n)
                break
            divergences = nets[n].compare(*tree_rows((state.blocks[n], x(n)), rows, batch))
            mean_kl = windows[n - 1].mean()
            divergences = tree_put((unknown, unknown), rows, divergences, batch)
            counted = rows if random is None else _rows(arrives & ~random)
            windows[n - 1] = windows[n - 1].push(divergences[0].index_select(0, counted), counted)
            decision = self.rule.decide(n + 1, state.time, *divergences, mean_kl)
            found, random = decision.evidence(*divergences), decision.random
            evidence.append(found if len(rows) == batch else found.masked(arrives, opening))
        return tuple(evidence), tuple(windows)

    def _infer(
        self,
        nets: Nets,
        state: State,
        x: Encodings,
        evidence: tuple[Evidence, ...],
        noise: Tensor | None,
    ) -> tuple[BlockState, ...]:
        """Inference, top-down: c^n ← f_dec(s^{n+1}, c^{n+1}), then the posterior of level n.

        Computed only for the sequences in which the level updates.
        """
        blocks, batch = state.blocks, len(state.time)
        for n in reversed(range(1, self.config.levels)):
            rows = _rows(evidence[n].boundary)
            if len(rows):
                inputs = blocks[n].d_next, x(n), _at(noise, n)
                d, x_n, eps = tree_rows(inputs, rows, batch)
                new = nets[n].update(d, x_n, self._context(nets, n, blocks, rows), eps)
                blocks = (*blocks[:n], tree_put(blocks[n], rows, new, batch), *blocks[n + 1 :])
        return blocks

    def _context(self, nets: Nets, n: int, blocks: tuple[BlockState, ...], rows: Tensor) -> Tensor:
        """c^n (R, D) of the sequences `rows`, from the level above; 0 at the top level."""
        if n + 1 == self.config.levels:
            return blocks[n].c.new_zeros(len(rows), self.config.width)
        above = blocks[n + 1].c, blocks[n + 1].s
        return nets[n + 1].f_dec(*tree_rows(above, rows, len(blocks[n].c)))

    def _encode(self, x: Tensor) -> list[Tensor]:
        """The projected x (B, T, H) of each level, for all frames at once, from x⁰ (B, T, D)."""
        projected = []
        for block in self.levels():
            x = block.f_enc(x)
            projected.append(block.project(x))
        return projected

    def levels(self) -> list[Block]:
        """The blocks, level 1 first."""
        return list(self.blocks)  # type: ignore[arg-type]


def with_fixed_start(p: Belief, d: Tensor) -> Belief:
    """The prior of the top level: N(0, 1) where d = 0, which is before the first transition."""
    opening = (d == 0).all(-1, keepdim=True)
    return Belief(p.mean.masked_fill(opening, 0.0), p.std.masked_fill(opening, 1.0))


def _stacked(*values: Tensor) -> Tensor:
    """T tensors (B, ...) → (B, T, ...)."""
    return torch.stack(values, 1)


def _prepended(values: Tensor, older: Tensor) -> Tensor:
    """`older` (B, ...) followed by values (B, K, ...): (B, 1 + K, ...)."""
    return torch.cat([older.unsqueeze(1), values], 1)


def _detached_copy(value: Tensor) -> Tensor:
    """A copy that holds neither the autograd graph nor the memory of the whole video."""
    return value.detach().clone()


def _at(noise: Tensor | None, index: int) -> Tensor | None:
    return noise[index] if noise is not None else None


def _rows(mask: Tensor) -> Tensor:  # (B,) bool → (R,)
    return mask.nonzero().squeeze(1)
