"""Events as predictions for Label Studio, to be corrected there: regions of `TimelineLabels`.

Label Studio counts frames from 1, at the frame rate that its labelling configuration states.
"""

from __future__ import annotations

from typing import Any

from vpr.segmenting.chapters import Chapters, frame_rate, rounded
from vpr.segmenting.timeline import Timeline


def label_studio(timeline: Timeline) -> list[dict[str, Any]]:
    """One task with one prediction; the label of a region is `Level 2`, and so on."""
    regions = [each for level in timeline.reported_levels for each in _regions(timeline, level)]
    prediction = {"model_version": timeline.model, "result": regions}
    return [{"data": {"video": timeline.source}, "predictions": [prediction]}]


def _regions(timeline: Timeline, level: int) -> list[dict[str, Any]]:
    """The parts from event to event of a level; `end` is the last frame of a part."""
    rate = frame_rate(timeline)
    regions = []
    for number, chapter in enumerate(Chapters(timeline, level)):
        start, end = (
            rounded((time - timeline.start) * rate, 1) for time in (chapter.start, chapter.end)
        )
        regions.append(
            {
                "id": f"level{level}-{number}",
                "from_name": "events",
                "to_name": "video",
                "type": "timelinelabels",
                "value": {
                    "ranges": [{"start": start + 1, "end": max(end, start + 1)}],
                    "timelinelabels": [f"Level {level}"],
                },
                "meta": {"text": [chapter.title]},
            }
        )
    return regions
