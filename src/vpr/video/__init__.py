"""Read footage with exact times: videos, folders of pictures, arrays, pipes and devices."""

from vpr.video.finding import find_footage
from vpr.video.fit import Fit
from vpr.video.frames import Frame, Picture, Source
from vpr.video.opening import open_footage

__all__ = ["Fit", "Frame", "Picture", "Source", "find_footage", "open_footage"]
