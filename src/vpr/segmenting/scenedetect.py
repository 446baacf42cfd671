"""A model as a detector for PySceneDetect, which can export EDL, OTIO, clips and more."""

from __future__ import annotations

from typing import Any

import numpy as np

from vpr.errors import VPRError
from vpr.model import VPR
from vpr.segmenting.inputs import ModelInput
from vpr.segmenting.segment import DEFAULT_FIT, check_levels, fit_for, with_threshold
from vpr.stream import Stream
from vpr.video.fit import Mode
from vpr.video.frames import Picture

try:
    from scenedetect import SceneDetector
except ImportError:
    raise VPRError(
        "the detector needs PySceneDetect: pip install 'vpr-torch[scenedetect]'"
    ) from None

COMPARED = ("kl_static", "kl_change", "threshold")


class VPRDetector(SceneDetector):  # type: ignore[misc]  # it has no types
    """Cuts a video at the events of one level. Use one detector per video.

    Args:
        model: A model, a run folder or the name of a shipped model.
        level: The default is the highest level of the model.
        threshold: γ, as in `vpr.segment`.
        min_scene_len: The shortest scene, as for other detectors: frames, or seconds if it is a
            float or text.
        fit: As in `vpr.segment`.

    With a stats file, the values that each level compares are written to it.
    """

    def __init__(
        self,
        model: VPR | str,
        level: int | None = None,
        threshold: float | None = None,
        min_scene_len: Any = 0,
        fit: Mode | None = None,
    ) -> None:
        super().__init__()
        mode = fit or (fit_for(model) if isinstance(model, str) else DEFAULT_FIT)
        model = VPR.from_pretrained(model) if isinstance(model, str) else model
        check_levels(model)
        self.levels = model.config.levels
        self.level = self.levels if level is None else level
        if not 2 <= self.level <= self.levels:
            raise VPRError(f"level must be 2 to {self.levels}, got {level}")
        self.min_scene_len = min_scene_len
        self._input = ModelInput(model, mode)
        self._input.picture_fit()  # raises if the model needs vectors
        self._stream = Stream(with_threshold(model, threshold))
        self._last_cut: Any = None

    def process_frame(self, timecode: Any, frame_img: Picture) -> list[Any]:
        """Process the next frame (h, w, BGR).

        Returns its timecode, or its number in older versions, if a scene starts with it.
        """
        picture = self._input.fitted(np.ascontiguousarray(frame_img[..., ::-1]))
        found = self._stream.push(self._input([picture])[0])
        self._write_stats(timecode)
        if self._last_cut is None:
            self._last_cut = timecode
        is_cut = any(boundary.level == self.level for boundary in found)
        if not is_cut or timecode - self._last_cut < self.min_scene_len:
            return []
        self._last_cut = timecode
        return [timecode]

    def get_metrics(self) -> list[str]:
        return [_key(name, level) for level in range(2, self.levels + 1) for name in COMPARED]

    def _write_stats(self, timecode: Any) -> None:
        """Write the values of all evaluated levels to the stats file."""
        if self.stats_manager is None:
            return
        for level, seen in enumerate(self._stream.evidence[1:], start=2):
            values = {_key(name, level): float(getattr(seen, name)) for name in COMPARED}
            self.stats_manager.set_metrics(timecode, values)


def _key(name: str, level: int) -> str:
    return f"vpr_{name}_level_{level}"
