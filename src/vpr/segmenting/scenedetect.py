"""A model as a detector of PySceneDetect, whose exporters then write EDL, OTIO, clips and more."""

from __future__ import annotations

from typing import Any

import numpy as np

from vpr.errors import VPRError
from vpr.model import VPR
from vpr.segmenting.fitting import OTHERWISE, fit_for
from vpr.segmenting.segmenter import Pixels, check_watches, with_threshold
from vpr.stream import Stream
from vpr.video.fit import Fit, Mode
from vpr.video.frames import Picture

try:
    from scenedetect import SceneDetector
except ImportError:
    raise VPRError(
        "the detector needs PySceneDetect: pip install 'vpr-torch[scenedetect]'"
    ) from None

COMPARED = ("kl_static", "kl_change", "threshold")


class VPRDetector(SceneDetector):  # type: ignore[misc]  # it has no types
    """Cuts where a level of the model has its events. One detector watches one video.

    `level` is the model's highest if none is named, `threshold` another γ than the model's. A
    scene lasts `min_scene_len` or longer, as with other detectors: frames, or seconds if it is a
    float or a text. `fit` is as in `vpr.segment`: how the model was trained, or letterbox. What
    each level compared goes into a stats file, if there is one.
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
        mode = fit or (fit_for(model) if isinstance(model, str) else OTHERWISE)
        model = VPR.from_pretrained(model) if isinstance(model, str) else model
        check_watches(model)
        self.levels = model.config.levels
        self.level = self.levels if level is None else level
        if not 2 <= self.level <= self.levels:
            raise VPRError(f"level must be 2 to {self.levels}, got {level}")
        self.min_scene_len = min_scene_len
        self._fit, self._pixels = Fit.to(model.config.frame, mode), Pixels(model)
        self._stream = Stream(with_threshold(model, threshold))
        self._last_cut: Any = None

    def process_frame(self, timecode: Any, frame_img: Picture) -> list[Any]:
        """The next frame (h, w, BGR); its timecode, or its number in older versions, if a scene
        begins with it."""
        picture = self._fit(np.ascontiguousarray(frame_img[..., ::-1]))
        found = self._stream.push(self._pixels([picture])[0])
        self._note(timecode)
        if self._last_cut is None:
            self._last_cut = timecode
        is_cut = any(boundary.level == self.level for boundary in found)
        if not is_cut or timecode - self._last_cut < self.min_scene_len:
            return []
        self._last_cut = timecode
        return [timecode]

    def get_metrics(self) -> list[str]:
        return [_key(name, level) for level in range(2, self.levels + 1) for name in COMPARED]

    def _note(self, timecode: Any) -> None:
        """For the stats file; a level that was not asked has nothing to tell."""
        if self.stats_manager is None:
            return
        for level, seen in enumerate(self._stream.evidence[1:], start=2):
            values = {_key(name, level): float(getattr(seen, name)) for name in COMPARED}
            self.stats_manager.set_metrics(timecode, values)


def _key(name: str, level: int) -> str:
    return f"vpr_{name}_level_{level}"
