"""Each page allows its own script only, and shows what there is."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import numpy as np

from vpr import Timeline
from vpr.pages.report.training_curves import training_curves
from vpr.pages.templates import shell
from vpr.pages.timeline.timeline_page import timeline_page

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
# Elements of type application/json hold data, which no browser runs.
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def check(page: str) -> None:
    (policy,), (script,) = POLICY.findall(page), SCRIPT.findall(page)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert page.index("Content-Security-Policy") < page.index("<script")
    assert not re.search(r"\son\w+=", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))


def test_the_script_of_a_page_is_allowed_by_its_hash() -> None:
    demo, report = ["sequence_view.js"], ["sequence_view.js", "report/animation.js"]
    for scripts in (demo, report):
        check(shell("demo", "title", "<main></main>", scripts=scripts, views=()))


def test_the_timeline_has_a_policy() -> None:
    check(timeline_page(Timeline("a.mp4", "m", 2, 1, np.zeros(1), []), "a.mp4"))


def test_a_damaged_log_of_training_is_drawn_as_far_as_possible() -> None:
    good = {
        "step": 1,
        "steps": 2,
        "reconstruction": 1.0,
        "kl": [1.0, 2.0],
        "update_rate": [1.0, 0.5],
    }
    lines = [good, {"step": 2}, good | {"kl": "x"}, good | {"kl": [1.0]}, good | {"steps": None}]
    assert "1 of 2 steps" in training_curves([*lines, good])
    assert "no metrics.jsonl" in training_curves([{"step": 1}, {"step": 2, "kl": 7}])
