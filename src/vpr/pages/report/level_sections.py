"""A section for each level: rollout and samples as animations, and the values it compares."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpr.data.pictures import as_images
from vpr.generation.film import Strip
from vpr.pages.frame_strip import data_url, downscaled
from vpr.pages.report.level_statistics import KeyValues, LevelStatistics
from vpr.pages.report.overview import number
from vpr.pages.report.report_run import Report
from vpr.pages.templates import fill


def level_sections(report: Report) -> str:
    return "".join(_section(report, n) for n in range(len(report.levels)))


def _section(report: Report, n: int) -> str:
    level, facts = report.levels[n], report.rollouts.facts["levels"][n]
    truth, rollout = report.rollouts.groups[n]
    samples = report.samples.groups[0][1 + n]
    others = (
        "while all other levels stay constant" if len(report.levels) > 1 else "after the last frame"
    )
    return fill(
        "report/level.html",
        level=str(level.level),
        summary=_summary(report, n),
        truth=_animation(truth, rollout, "Ground truth", _truth(facts)),
        rollout=_animation(
            rollout, rollout, "Rollout", f"level {level.level} predicts its next events {others}"
        ),
        samples=_animation(
            samples, samples, "Samples", f"level {level.level} is sampled from its prior {others}"
        ),
        keys=_key_values(level),
    )


def _animation(strip: Strip, longest: Strip, title: str, words: str) -> str:
    return animation(strip.frames, len(longest.frames), title, words)


def _truth(facts: dict[str, Any]) -> str:
    if facts["level"] == 1 or facts["factor"] is None:
        return "the next frames"
    return f"the frames at which the {escape(facts['factor'])} changes next"


def _summary(report: Report, n: int) -> str:
    """The factors that fit best; empty without labels."""
    if not report.factors:
        return ""
    probed = max(report.factors, key=lambda factor: factor.probe[n])
    words = f"its state predicts the {escape(probed.name)} best ({probed.probe[n]:.2f})"
    if n == 0:  # updates at every frame
        return words
    found = max(report.factors, key=lambda factor: factor.f1[n])
    events = f"its events match changes of the {escape(found.name)} best"
    return f"{events} (F1 {found.f1[n]:.2f}), {words}"


def _key_values(level: LevelStatistics) -> str:
    if level.level == 1:
        return '<p class="quiet">Level 1 updates at every frame, without a criterion.</p>'
    rows = _key("at events", level.at_events) + _key("between events", level.between)
    return fill("report/key_values.html", rows=rows)


def _key(name: str, key: KeyValues) -> str:
    values = (key.kl_static, key.kl_change, key.threshold)
    cells = "".join(f"<td>{number(value)}</td>" for value in values)
    return f'<tr><th scope="row">{name}</th>{cells}<td class="quiet">{key.frames:,}</td></tr>'


def animation(frames: NDArray[np.float32], columns: int, title: str, words: str) -> str:
    """An animation of frames (K, *frame); the first is the last observed frame.

    Padded to `columns` with transparent frames, so that all animations have one length. `words` is
    markup.
    """
    images = as_images(downscaled(frames)[None])[0]
    height, width = images.shape[1:3]
    return fill(
        "report/animation.html",
        sheet=data_url(_sheet(images, columns)),
        columns=str(columns),
        ratio=f"{width} / {height}",
        tape=f"{columns * width} / {height}",
        title=escape(title),
        words=words,
        label=escape(f"{title}: {len(frames)} pictures, the first is the present"),
    )


def _sheet(images: NDArray[np.uint8], columns: int) -> NDArray[np.uint8]:
    """(H, columns·W, 4)"""
    count, height, width = images.shape[:3]
    sheet = np.zeros((height, columns, width, 4), np.uint8)
    sheet[:, :count, :, :3] = images.transpose(1, 0, 2, 3)
    sheet[:, :count, :, 3] = 255
    return sheet.reshape(height, -1, 4)
