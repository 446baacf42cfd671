"""From footage to a timeline of events."""

from vpr.segmenting.segment import segment
from vpr.segmenting.timeline import Curves, Event, Timeline

__all__ = ["Curves", "Event", "Timeline", "segment"]
