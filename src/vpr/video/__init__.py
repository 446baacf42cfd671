"""People's own footage: whatever PyAV decodes, folders of pictures, arrays, pipes."""

from vpr.video.finding import footage
from vpr.video.fit import Fit
from vpr.video.frames import Frame, Picture, Source
from vpr.video.opening import open_footage

__all__ = ["Fit", "Frame", "Picture", "Source", "footage", "open_footage"]
