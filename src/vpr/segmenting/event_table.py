"""One row an event."""

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
    *("kl_static", "kl_change", "threshold", "exact"),
)


def row(event: Event) -> dict[str, Any]:
    """By `COLUMNS`, in their order; `time` is in seconds, `exact` the same as a fraction."""
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
    }


def write_csv(path: Path, timeline: Timeline) -> None:
    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(row(event).values() for event in timeline.boundaries)

    write_atomically(path, write)


def frame_of(timeline: Timeline) -> DataFrame:
    if importlib.util.find_spec("pandas") is None:
        raise VPRError("to_pandas needs pandas: pip install pandas, or use to_csv")
    import pandas as pd

    table: DataFrame = pd.DataFrame([row(event) for event in timeline.boundaries], columns=COLUMNS)
    return table
