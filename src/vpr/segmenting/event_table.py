"""A timeline as a table with one row per event: CSV and pandas."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vpr.errors import VPRError
from vpr.segmenting.timeline import Event, Timeline
from vpr.utils.files import write_atomically

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = (
    *("frame", "time", "level", "kind", "score", "fit", "surprise"),
    *("kl_static", "kl_change", "threshold", "exact", "probability"),
)


def event_row(event: Event) -> dict[str, Any]:
    """The values of `COLUMNS`; `time` is in seconds, `exact` the same as a fraction."""
    return {
        "frame": event.frame,
        "time": float(event.time),
        "level": event.level,
        "kind": event.kind,
        **event.measures(),
        "kl_static": event.kl_static,
        "kl_change": event.kl_change,
        "threshold": event.threshold,
        "exact": str(event.time),
        "probability": event.probability,
    }


def write_csv(path: Path, timeline: Timeline) -> None:
    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(event_row(event).values() for event in timeline.boundaries)

    write_atomically(path, write)


def event_frame(timeline: Timeline) -> DataFrame:
    if importlib.util.find_spec("pandas") is None:
        raise VPRError("to_pandas needs pandas: pip install pandas, or use to_csv")
    import pandas as pd

    table: DataFrame = pd.DataFrame(
        [event_row(event) for event in timeline.boundaries], columns=COLUMNS
    )
    return table
