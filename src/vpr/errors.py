"""The exception class of the package."""


class VPRError(ValueError):
    """An error that the user can fix; the message explains how, in one line."""
