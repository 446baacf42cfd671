"""Sizes in the view of a sequence, in pixels. A frame and everything below it share one column."""

CELL = 34  # width of a column: a frame with a margin on either side
FRAME = 32
RULER = 18  # height of the frame numbers
LANE = 26  # height of a row of marks
CURVES = 150  # height of the curves of one level
AXIS = 44  # width of the numbers beside the curves


def centre(frame: int) -> float:
    """x of the middle of a frame's column."""
    return (frame + 0.5) * CELL
