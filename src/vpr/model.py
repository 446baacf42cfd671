"""The hierarchy. Algorithm 1 of the paper is `VPR._advance`: detect bottom-up, infer top-down."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from vpr.beliefs import Belief, kl
from vpr.block import Block, BlockState
from vpr.checks import check_frames, check_values
from vpr.config import ModelConfig, make_rule
from vpr.errors import VPRError
from vpr.events import Decision, Evidence, Window
from vpr.images import make_codec
from vpr.likelihood import make_likelihood
from vpr.schedule import Weights
from vpr.trace import LevelTrace, Loss, State, Trace
from vpr.tree import tree_where

Encodings = Callable[[int], Tensor]  # index of a level → its compressed x (B, E)


class LazyEncodings:
    """Each level's compressed x of one frame, computed when, and only if, somebody asks."""

    def __init__(self, blocks: list[Block], x0: Tensor) -> None:
        self.blocks, self.x = blocks, [x0]
        self.compressed: dict[int, Tensor] = {}
        self.differentiable = torch.is_grad_enabled()

    def __call__(self, n: int) -> Tensor:
        # Detection, which asks first, keeps no graph; inference may need one.
        with torch.set_grad_enabled(self.differentiable):
            while len(self.x) <= n + 1:
                self.x.append(self.blocks[len(self.x) - 1].f_enc(self.x[-1]))
            if n not in self.compressed:
                self.compressed[n] = self.blocks[n].compress(self.x[n + 1])
        return self.compressed[n]


class VPR(nn.Module):
    """Variational Predictive Routing with N levels."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.rule = make_rule(config)
        self.codec = make_codec(config.frame, config.width, config.network, config.channels)
        self.likelihood = make_likelihood(config.likelihood)
        self.blocks = nn.ModuleList(
            Block(config.width, config.state_size, config.min_std, compares=n > 0)
            for n in range(config.levels)
        )
        # Mean D_st of levels 2 to N in training, NaN before: a fresh stream knows what is usual.
        self.usual: Tensor
        self.register_buffer("usual", torch.full((config.levels - 1,), torch.nan))

    @classmethod
    def from_pretrained(cls, name: str) -> VPR:
        """A shipped model ("moving-ball"), a run folder, or a repository of the HF hub."""
        from vpr.checkpoint import load_model

        return load_model(name)

    def save_pretrained(self, folder: str) -> None:
        """Write what `from_pretrained` loads."""
        from vpr.checkpoint import save_pretrained

        save_pretrained(self, folder)

    def initial(self, batch: int) -> State:
        """Before the first frame; each window of D_st holds what was usual in training."""
        windows = tuple(Window.filled(batch, self.rule.window, usual) for usual in self.usual)
        blocks = tuple(block.initial(batch, self.usual) for block in self._blocks())
        return State(blocks, windows, self.usual.new_zeros(batch, dtype=torch.long))

    def step(
        self, state: State, frame: Tensor, noise: Tensor | None = None
    ) -> tuple[State, tuple[Evidence, ...]]:
        """One frame (B, *frame). Without gradients a blocked level computes nothing."""
        check_frames(frame, ("batch",), self.config, self.usual.dtype)
        check_values(frame, self.config)
        self._check_state(state, len(frame))
        self._check_noise(noise, (), len(frame))
        x0 = self.codec.encode(self.codec.to_layout(frame))
        return self._advance(state, LazyEncodings(self._blocks(), x0), noise)

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
        weights: Weights | None = None,
        kl_balancing: bool = False,
        trusted: bool = False,
    ) -> Loss:
        """−ELBO in nats a frame: Σ_t −ln p(o_t | s) + Σ_n β_n Σ_τ D_KL[q(s^n_τ) ‖ p(s^n_τ)].

        `trusted` data is not searched for NaN and values out of range: one look at it less.
        """
        weights = weights or Weights(1.0, (1.0,) * self.config.levels)
        self._check_video(video)
        if video.shape[1] < 2:
            raise VPRError("one frame has no events to learn from: give sequences of 2 or more")
        if not trusted:
            check_values(video, self.config)
        y = self.codec.to_layout(video.flatten(0, 1))
        trace = self._observe(y, video, state, noise)
        output = self.codec.decode(trace.c0.flatten(0, 1))
        reconstruction = self.likelihood.nll(output, y) / len(output)
        kls = torch.stack([level.kl.mean() for level in trace.levels])
        beta = kls.new_tensor(weights.kl)
        if kl_balancing:
            beta = torch.where(beta < 1, beta * balance(kls), beta)
        rates = torch.stack([lv.evidence.boundary.float().mean() for lv in trace.levels])
        total = weights.reconstruction * reconstruction + (beta * kls).sum()
        return Loss(total, reconstruction, kls, rates, trace.state)

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

    def _observe(
        self, y: Tensor, video: Tensor, state: State | None, noise: Tensor | None
    ) -> Trace:
        """`observe`, for frames y (B·T, …) that are in the codec's layout already."""
        x0 = self.codec.encode(y).view(*video.shape[:2], self.config.width)
        return self.core(x0, state, noise)

    def core(self, x0: Tensor, state: State | None = None, noise: Tensor | None = None) -> Trace:
        """The hierarchy alone: x⁰ (B, T, D), what the image network saw, to the whole trace."""
        batch, length = x0.shape[:2]
        state = state if state is not None else self.initial(batch)
        self._check_state(state, batch)
        self._check_noise(noise, (length,), batch)
        x = self._encode(x0)
        states, evidence = [], []
        for t in range(length):
            eps = noise[t] if noise is not None else None
            state, seen = self._advance(state, [x_n[:, t] for x_n in x].__getitem__, eps)
            states.append(state.blocks)
            evidence.append(seen)
        levels = tuple(
            self._trace_level(n, [blocks[n] for blocks in states], [e[n] for e in evidence])
            for n in range(self.config.levels)
        )
        c0 = self._blocks()[0].f_dec(stack([blocks[0].c for blocks in states]), levels[0].s)
        return Trace(c0, levels, state)

    def _advance(
        self, state: State, x: Encodings, noise: Tensor | None
    ) -> tuple[State, tuple[Evidence, ...]]:
        """Algorithm 1 for one frame."""
        live = not torch.is_grad_enabled()  # at run time a blocked level computes nothing
        with torch.no_grad():
            evidence, windows = self._detect(state, x, live)
        blocks = self._infer(state, x, evidence, noise, live)
        return State(blocks, windows, state.time + 1), evidence

    def _detect(
        self, state: State, x: Encodings, live: bool
    ) -> tuple[tuple[Evidence, ...], tuple[Window, ...]]:
        """Event detection, bottom-up: who updates, and what D_st was."""
        boundary = torch.ones_like(state.time, dtype=torch.bool)
        evidence = [_unasked(boundary, state.blocks[0].s)]  # level 1 is always True
        windows = list(state.windows)
        first = state.time == 0
        for n in range(1, self.config.levels):
            arrives = evidence[-1].boundary & ~first
            if live and not arrives.any():
                evidence.append(_unasked(first, state.blocks[n].s))
                continue
            seen, usual = self._compare(n, state, x(n)), state.windows[n - 1].mean(self.rule.power)
            decision = self.rule.decide(n + 1, state.time, *seen, usual)
            windows[n - 1] = state.windows[n - 1].push(seen[0], where=arrives)
            evidence.append(_masked(seen, decision, arrives, first))
        return tuple(evidence), tuple(windows)

    def _compare(self, n: int, state: State, x: Tensor) -> tuple[Tensor, Tensor]:
        """D_st and D_ch (B,): the new x under "nothing changed" and under "the next event came".

        q_st = q(s | x, d_τ, c_τ) against p_st, the last posterior;
        q_ch = q(s | x, d_{τ+1}, c_τ) against p_ch = p(s | d_{τ+1}, c_τ), kept since the update.
        """
        block, now = self._blocks()[n], state.blocks[n]
        assert now.p_ch is not None
        both = block.q(x.repeat(2, 1), torch.cat([now.d, now.d_next]), now.c.repeat(2, 1))
        q_st, q_ch = (Belief(*halves) for halves in zip(*(v.chunk(2) for v in both), strict=True))
        return kl(q_st, now.q), kl(q_ch, now.p_ch)

    def _infer(
        self,
        state: State,
        x: Encodings,
        evidence: tuple[Evidence, ...],
        noise: Tensor | None,
        live: bool,
    ) -> tuple[BlockState, ...]:
        """Inference, top-down: c^n ← f_dec(s^{n+1}, c^{n+1}), then the posterior of level n."""
        blocks = list(state.blocks)
        for n in reversed(range(self.config.levels)):
            update = evidence[n].boundary
            if live and not update.any():
                continue
            c = self._context(n, blocks)
            eps = noise[n] if noise is not None else None
            new = self._blocks()[n].update(blocks[n], x(n), c, eps)
            blocks[n] = new if n == 0 else tree_where(update, new, blocks[n])
        return tuple(blocks)

    def _context(self, n: int, blocks: list[BlockState]) -> Tensor:
        """c^n (B, D) from the level above; nothing is above the top."""
        if n + 1 == self.config.levels:
            return torch.zeros_like(blocks[n].c)
        above = blocks[n + 1]
        return self._blocks()[n + 1].f_dec(above.c, above.s)  # type: ignore[no-any-return]

    def _encode(self, x: Tensor) -> list[Tensor]:
        """Each level's compressed x (B, T, E), for all frames at once, from x⁰ (B, T, D)."""
        compressed = []
        for block in self._blocks():
            x = block.f_enc(x)
            compressed.append(block.compress(x))
        return compressed

    def _trace_level(
        self, n: int, states: list[BlockState], evidence: list[Evidence]
    ) -> LevelTrace:
        """Stack over time; the priors, which no decision needs, for all frames in one call."""
        q = Belief(stack([b.q.mean for b in states]), stack([b.q.std for b in states]))
        d, c = stack([b.d for b in states]), stack([b.c for b in states])
        p = self._blocks()[n].p(d, c)
        if n + 1 == self.config.levels:  # p(s^N_1) = N(0, 1): the event before any transition
            opening = (d == 0).all(-1, keepdim=True)
            p = Belief(p.mean.masked_fill(opening, 0.0), p.std.masked_fill(opening, 1.0))
        seen = Evidence(*(stack(list(v)) for v in zip(*evidence, strict=True)))
        divergence = torch.where(seen.boundary, kl(q, p), 0.0)
        return LevelTrace(stack([b.s for b in states]), q, p, divergence, seen)

    def _check_state(self, state: State, batch: int) -> None:
        if len(state.time) != batch:
            raise VPRError(f"the state follows {len(state.time)} sequences, the video has {batch}")
        if len(state.blocks) != self.config.levels:
            raise VPRError(f"the state has {len(state.blocks)} levels, not {self.config.levels}")

    def _check_noise(self, noise: Tensor | None, time: tuple[int, ...], batch: int) -> None:
        shape = (*time, self.config.levels, batch, self.config.state_size)
        if noise is not None and tuple(noise.shape) != shape:
            raise VPRError(f"noise must have shape {shape}, got {tuple(noise.shape)}")

    def _check_video(self, video: Tensor) -> None:
        check_frames(video, ("batch", "time"), self.config, self.usual.dtype)

    def _blocks(self) -> list[Block]:
        return list(self.blocks)  # type: ignore[arg-type]


def stack(values: list[Tensor]) -> Tensor:
    """T tensors (B, ...) → (B, T, ...)."""
    return torch.stack(values, 1)


def balance(kls: Tensor) -> Tensor:
    """NVAE's balancing (N,): a level's share of the KL, so that quiet levels pay less."""
    share = kls.detach()
    return share / share.mean().clamp(min=1e-8)


def _masked(
    seen: tuple[Tensor, Tensor], decision: Decision, arrives: Tensor, first: Tensor
) -> Evidence:
    """The decision where the signal arrived; at a sequence's first frame every level updates."""
    kl_static, kl_change = seen
    return Evidence(
        kl_static.where(arrives, torch.nan),
        kl_change.where(arrives, torch.nan),
        decision.threshold.where(arrives, torch.nan),
        decision.expected & arrives,
        decision.unexpected & arrives,
        (decision.boundary & arrives) | first,
    )


def _unasked(boundary: Tensor, like: Tensor) -> Evidence:
    """No comparison was made; `boundary` is the whole decision."""
    unknown = torch.full_like(like[:, 0], torch.nan)
    neither = torch.zeros_like(boundary)
    return Evidence(unknown, unknown, unknown, neither, neither, boundary)
