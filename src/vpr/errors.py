"""The package's own error: words for the user, no trace needed."""


class VPRError(ValueError):
    """Something the user can put right; its text says how, in one line."""
