"""The hierarchy. Algorithm 1 of the paper is `VPR.step`: `_advance` detects bottom-up and infers
top-down for levels 2 to N; level 1, which always updates and decides nothing, comes last."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from vpr.beliefs import Belief, kl
from vpr.block import Block, BlockState, Path
from vpr.config import ModelConfig, make_rule
from vpr.errors import VPRError
from vpr.events import Evidence, Window
from vpr.fast.inference_block import LeanBlock
from vpr.nets import make_codec
from vpr.nets.likelihood import make_likelihood
from vpr.state import LevelTrace, Loss, Moments, State, Trace
from vpr.utils.checks import check_frames, check_state, check_values
from vpr.utils.tree import tree_map, tree_put, tree_rows

Encodings = Callable[[int], Tensor]  # index of a level → its x, read (B, H)
Nets = Sequence[Block | LeanBlock]  # level 1 first


class LazyEncodings:
    """What each level reads of one frame, computed when, and only if, somebody asks.

    `x` is what is known already: x⁰, perhaps x¹, x², …; `read` likewise.
    """

    def __init__(self, nets: Nets, x: list[Tensor], read: dict[int, Tensor] | None = None) -> None:
        self.nets, self.x, self.read = nets, x, read if read is not None else {}
        self.differentiable = torch.is_grad_enabled()

    def __call__(self, n: int) -> Tensor:
        # Detection, which asks first, keeps no graph; inference may need one.
        with torch.set_grad_enabled(self.differentiable):
            while len(self.x) <= n + 1:
                self.x.append(self.nets[len(self.x) - 1].f_enc(self.x[-1]))
            if n not in self.read:
                self.read[n] = self.nets[n].read(self.x[n + 1])
        return self.read[n]


class VPR(nn.Module):
    """Variational Predictive Routing with N levels."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.rule = make_rule(config)
        self.likelihood = make_likelihood(config.likelihood)
        self.codec = make_codec(
            config.frame,
            config.width,
            config.network,
            config.channels,
            config.tints,
            config.layers,
            self.likelihood.loudness,
        )
        self.blocks = nn.ModuleList(
            Block(config.width, config.state_size, config.layers, config.min_std, compares=n > 0)
            for n in range(config.levels)
        )
        # Mean D_st of levels 2 to N in training, NaN before: a fresh stream knows what is usual.
        self.usual: Tensor
        self.register_buffer("usual", torch.full((config.levels - 1,), torch.nan))

    @classmethod
    def from_pretrained(cls, name: str) -> VPR:
        """A shipped model ("moving-ball"), a run folder, or a repository of the HF hub."""
        from vpr.pretrained import load_model

        return load_model(name)

    def save_pretrained(self, folder: str) -> None:
        """Write what `from_pretrained` loads."""
        from vpr.pretrained import save_pretrained

        save_pretrained(self, folder)

    def initial(self, batch: int) -> State:
        """Before the first frame; each window of D_st holds what was usual in training."""
        windows = tuple(Window.filled(batch, self.rule.window, usual) for usual in self.usual)
        blocks = tuple(block.initial(batch, self.usual) for block in self.levels())
        return State(blocks, windows, self.usual.new_zeros(batch, dtype=torch.long))

    def step(
        self, state: State, frame: Tensor, noise: Tensor | None = None
    ) -> tuple[State, tuple[Evidence, ...]]:
        """One frame (B, *frame). A blocked level computes nothing."""
        check_frames(frame, ("batch",), self.config, self.usual.dtype)
        check_values(frame, self.config)
        self._check_state(state, len(frame))
        self._check_noise(noise, (), len(frame))
        nets = self.levels()
        x = LazyEncodings(nets, [self.codec.encode(self.codec.to_layout(frame))])
        state, evidence = self._advance(nets, state, x, noise)
        now, c = state.blocks[0], state.blocks[0].c
        above = evidence[1].boundary if self.config.levels > 1 else torch.zeros_like(state.time)
        rows = _where(above)
        if len(rows):  # c¹ changes where level 2 did
            c = tree_put(c, rows, self._context(nets, 0, state.blocks, rows), len(c))
        level_one = nets[0].update(now.d_next, x(0), c, _of(noise, 0))
        return state._replace(blocks=(level_one, *state.blocks[1:])), evidence

    def observe(
        self,
        video: Tensor,
        state: State | None = None,
        noise: Tensor | None = None,
    ) -> Trace:
        """A video (B, T, *frame). `noise` (T, N, B, S) draws the states; without it, their means.

        Everything that does not depend on the order of time is computed for all frames at once.
        """
        self._check_video(video)
        check_values(video, self.config)
        return self._observe(self.codec.to_layout(video.flatten(0, 1)), video, state, noise)

    def reconstruct(self, c0: Tensor) -> Tensor:
        """c⁰ (..., D) → frames (..., *frame); pictures lie in [0, 1]."""
        mean = self.likelihood.mean(self.codec.decode(c0.flatten(0, -2)))
        frames = self.codec.to_frames(mean).reshape(*c0.shape[:-1], *self.config.frame)
        return frames.clamp(0, 1) if len(self.config.frame) == 3 else frames

    def loss(
        self,
        video: Tensor,
        state: State | None = None,
        noise: Tensor | None = None,
        beta: float = 1.0,
    ) -> Loss:
        """−ELBO in nats per frame: Σ_t −ln p(o_t | s) + β Σ_n Σ_τ D_KL[q(s^n_τ) ‖ p(s^n_τ)]."""
        self._check_video(video)
        if video.shape[1] < 2:
            raise VPRError("one frame has no events to learn from: give sequences of 2 or more")
        check_values(video, self.config)
        y = self.codec.to_layout(video.flatten(0, 1))
        trace = self._observe(y, video, state, noise)
        output = self.codec.decode(trace.c0.flatten(0, 1))
        reconstruction = self.likelihood.nll(output, y) / len(output)
        kl = torch.stack([level.kl.mean() for level in trace.levels])
        return Loss(reconstruction + beta * kl.sum(), reconstruction, kl, trace)

    @torch.no_grad()
    def remember(self, windows: tuple[Window, ...]) -> None:
        """Keep the mean D_st of each level as what is usual; `initial` starts from it."""
        for n, window in enumerate(windows):
            means = window.mean(self.rule.power)  # infinite where a window is still empty
            self.usual[n] = means.where(means.isfinite(), torch.nan).nanmean()

    def noise(self, batch: int, length: int, generator: torch.Generator | None = None) -> Tensor:
        """ε for `observe` and `loss`: (T, N, B, S)."""
        shape = (length, self.config.levels, batch, self.config.state_size)
        drawn = torch.randn(shape, generator=generator, dtype=self.usual.dtype)
        return drawn.to(self.usual.device)  # drawn on the CPU: the same on every machine

    def encodings(self, video: Tensor) -> list[Tensor]:
        """What each level, 1 first, reads of a video (B, T, *frame): (B, T, H)."""
        self._check_video(video)
        x0 = self.codec.encode(self.codec.to_layout(video.flatten(0, 1)))
        return self._encode(x0.view(*video.shape[:2], self.config.width))

    def prior(self, n: int, d: Tensor, c: Tensor) -> Belief:  # (..., D) twice → (..., S)
        """p(s | d, c) at index n, from 0; at the top N(0, 1) where d = 0: see `opened`."""
        p: Belief = self.levels()[n].p(d, c)
        return p if n + 1 < self.config.levels else opened(p, d)

    def _observe(
        self,
        y: Tensor,
        video: Tensor,
        state: State | None,
        noise: Tensor | None,
    ) -> Trace:
        """`observe`, for frames y (B·T, …) that are in the codec's layout already."""
        x0 = self.codec.encode(y).view(*video.shape[:2], self.config.width)
        return self.core(x0, state, noise)

    def core(
        self,
        x0: Tensor,
        state: State | None = None,
        noise: Tensor | None = None,
    ) -> Trace:
        """The hierarchy alone: x⁰ (B, T, D), what the image network saw, to the whole trace.

        First decide, frame after frame and without gradients, who updates when. Then learn: each
        level in turn, from the top, goes through its own updates, whose moments are known by now.
        The state that is returned carries no gradients.
        """
        batch, length = x0.shape[:2]
        before = state if state is not None else self.initial(batch)
        self._check_state(before, batch)
        self._check_noise(noise, (length,), batch)
        x = self._encode(x0)
        after, evidence = self.decide(before, x, noise)
        c, levels = torch.zeros_like(x0), []
        for n in reversed(range(self.config.levels)):
            moments = Moments(evidence[n].boundary)
            eps = noise[:, n].transpose(0, 1) if noise is not None else None
            inputs = tree_map(moments.pick, (x[n], c, eps))
            path, d_next = self.levels()[n].follow(before.blocks[n].d_next, *inputs)
            level, c = self._trace_level(n, before.blocks[n], x[n], path, moments, evidence[n])
            levels.append(level)
        level_one = BlockState(*tree_map(lambda value: value[:, -1], path), d_next, None)
        blocks = (tree_map(_alone, level_one), *after.blocks[1:])
        return Trace(c, tuple(levels[::-1]), after._replace(blocks=blocks))

    @torch.no_grad()
    def decide(
        self, state: State, x: list[Tensor], noise: Tensor | None
    ) -> tuple[State, list[Evidence]]:
        """Who updates when, and why, from what each level reads (B, T, H), see `encodings`.

        The evidence (B, T) of each level; level 1, which decides nothing, stays as it was.
        """
        nets, told = [LeanBlock(block) for block in self.levels()], []
        for t, x_t in enumerate(zip(*(x_n.unbind(1) for x_n in x), strict=True)):
            state, evidence = self._advance(nets, state, x_t.__getitem__, _of(noise, t))
            told.append(evidence)
        return state, [tree_map(_stacked, *level) for level in zip(*told, strict=True)]

    def _trace_level(
        self,
        n: int,
        before: BlockState,
        x: Tensor,
        path: Path,
        moments: Moments,
        evidence: Evidence,
    ) -> tuple[LevelTrace, Tensor]:
        """What was in force at each frame: of level n, and its c^{n−1} (B, T, D)."""
        if not moments.opened:
            path = tree_map(_behind, path, Path(before.d, before.c, before.s, before.q))
        p = self.prior(n, path.d, path.c)
        s, q, p, divergence = tree_map(moments.hold, (path.s, path.q, p, kl(path.q, p)))
        divergence = torch.where(evidence.boundary, divergence, 0.0)
        level = LevelTrace(s, q, p, divergence, evidence, x, path, moments)
        return level, moments.hold(self.levels()[n].f_dec(path.c, path.s))

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
        """Event detection, bottom-up: who updates, and what D_st was."""
        opening = state.time == 0
        batch, unknown = len(opening), state.blocks[0].s.new_full(opening.shape, torch.nan)
        evidence = [Evidence.unasked(torch.ones_like(opening), unknown)]  # level 1 is always True
        windows, random = list(state.windows), None
        for n in range(1, self.config.levels):
            arrives = evidence[-1].boundary & ~opening
            rows = _where(arrives)
            if not len(rows):  # the signal stops here
                evidence += [Evidence.unasked(opening, unknown)] * (self.config.levels - n)
                break
            seen = nets[n].compare(*tree_rows((state.blocks[n], x(n)), rows, batch))
            usual = windows[n - 1].mean(self.rule.power)
            seen = tree_put((unknown, unknown), rows, seen, batch)
            counted = rows if random is None else _where(arrives & ~random)
            windows[n - 1] = windows[n - 1].push(seen[0].index_select(0, counted), counted)
            decision = self.rule.decide(n + 1, state.time, *seen, usual)
            told, random = decision.evidence(*seen), decision.random
            evidence.append(told if len(rows) == batch else told.masked(arrives, opening))
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

        Only for the sequences in which the level updates.
        """
        blocks, batch = state.blocks, len(state.time)
        for n in reversed(range(1, self.config.levels)):
            rows = _where(evidence[n].boundary)
            if len(rows):
                inputs = blocks[n].d_next, x(n), _of(noise, n)
                d, x_n, eps = tree_rows(inputs, rows, batch)
                new = nets[n].update(d, x_n, self._context(nets, n, blocks, rows), eps)
                blocks = (*blocks[:n], tree_put(blocks[n], rows, new, batch), *blocks[n + 1 :])
        return blocks

    def _context(self, nets: Nets, n: int, blocks: tuple[BlockState, ...], rows: Tensor) -> Tensor:
        """c^n (R, D) of the sequences `rows` from the level above; nothing is above the top."""
        if n + 1 == self.config.levels:
            return blocks[n].c.new_zeros(len(rows), self.config.width)
        above = blocks[n + 1].c, blocks[n + 1].s
        return nets[n + 1].f_dec(*tree_rows(above, rows, len(blocks[n].c)))

    def _encode(self, x: Tensor) -> list[Tensor]:
        """What each level reads (B, T, H), for all frames at once, from x⁰ (B, T, D)."""
        read = []
        for block in self.levels():
            x = block.f_enc(x)
            read.append(block.read(x))
        return read

    def _check_state(self, state: State, batch: int) -> None:
        if len(state.time) != batch:
            raise VPRError(f"the state follows {len(state.time)} sequences, the video has {batch}")
        check_state(state, self.config)

    def _check_noise(self, noise: Tensor | None, time: tuple[int, ...], batch: int) -> None:
        shape = (*time, self.config.levels, batch, self.config.state_size)
        if noise is not None and tuple(noise.shape) != shape:
            raise VPRError(f"noise must have shape {shape}, got {tuple(noise.shape)}")

    def _check_video(self, video: Tensor) -> None:
        check_frames(video, ("batch", "time"), self.config, self.usual.dtype)

    def levels(self) -> list[Block]:
        """The blocks, level 1 first."""
        return list(self.blocks)  # type: ignore[arg-type]


def opened(p: Belief, d: Tensor) -> Belief:
    """The top level's p, which is p(s^N_1) = N(0, 1) where d = 0: before any transition."""
    opening = (d == 0).all(-1, keepdim=True)
    return Belief(p.mean.masked_fill(opening, 0.0), p.std.masked_fill(opening, 1.0))


def _stacked(*values: Tensor) -> Tensor:
    """T tensors (B, ...) → (B, T, ...)."""
    return torch.stack(values, 1)


def _behind(values: Tensor, older: Tensor) -> Tensor:
    """values (B, K, ...) with `older` (B, ...) before them."""
    return torch.cat([older.unsqueeze(1), values], 1)


def _alone(value: Tensor) -> Tensor:
    """Without the video that it is a part of, and without its gradient."""
    return value.detach().clone()


def _of(noise: Tensor | None, index: int) -> Tensor | None:
    return noise[index] if noise is not None else None


def _where(mask: Tensor) -> Tensor:  # (B,) bool → (R,)
    return mask.nonzero().squeeze(1)
