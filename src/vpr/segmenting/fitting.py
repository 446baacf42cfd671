"""How a model saw footage when it learned."""

from __future__ import annotations

from vpr.errors import VPRError
from vpr.pretrained import data_for
from vpr.video.fit import Mode

OTHERWISE: Mode = "letterbox"  # keeps proportions and loses nothing


def fit_for(model: str) -> Mode:
    """What became of other proportions in the training of the model of this name."""
    try:
        data = data_for(model)
    except VPRError:  # weights alone
        return OTHERWISE
    fit: Mode = getattr(data, "fit", OTHERWISE)
    return fit
