"""One row an event."""

from __future__ import annotations

import csv
import importlib.util
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vpr.errors import VPRError
from vpr.files import write_text
from vpr.segmenting.timeline import Event, Timeline

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = (
    *("frame", "time", "level", "kind", "score", "fit", "surprise"),
    *("kl_static", "kl_change", "threshold", "exact"),
)


def row(event: Event) -> dict[str, Any]:
    """`time` is in seconds, `exact` the same as a fraction."""
    values = {name: getattr(event, name) for name in COLUMNS if name != "exact"}
    return values | {"time": float(event.time), "exact": str(event.time)}


def write_csv(path: Path, timeline: Timeline) -> None:
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for event in timeline.boundaries:
        writer.writerow(row(event))
    write_text(path, text.getvalue())


def frame_of(timeline: Timeline) -> DataFrame:
    if importlib.util.find_spec("pandas") is None:
        raise VPRError("to_pandas needs pandas: pip install pandas, or use to_csv")
    import pandas as pd

    table: DataFrame = pd.DataFrame([row(event) for event in timeline.boundaries], columns=COLUMNS)
    return table
