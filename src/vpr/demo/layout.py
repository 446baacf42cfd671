"""Sizes that the parts of a film share, in CSS pixels: a frame and all under it are one column."""

CELL = 34  # a column: one frame with a margin on either side
FRAME = 32
RULER = 18  # height of the frame numbers
LANE = 26  # height of a row of marks
CURVES = 150  # height of the curves of one level


def centre(frame: int) -> float:
    """x of the middle of a frame's column."""
    return (frame + 0.5) * CELL
