"""The page and the reliability diagram of the footage model, from `footage.json`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vpr.utils.figures import LEVEL_COLOURS, panels, write_figure
from vpr.utils.files import read_json, write_text

LOW, HIGH = 0.1, 0.8  # medium probabilities
RESULTS, PAGE = "footage.json", "README.md"
HEAD = """\
# Transitions in footage

Written by `python -m vpr.experiments.footage.build` from `footage.json`; do not edit.

The shipped model `footage` detects transitions in a film that was edited from real clips, so that
the frame of every transition is known. A transition is found if a time lies within it or at most
0.2 seconds from it; further times in the same transition are wrong.
"""
PROTOCOL = """\
The clips of the three films are disjoint, also in what they show. The model was trained on the
features of the training film. The weights of its probabilities were fitted to the events in this
film, their scale and bias to those in the development film. The inputs of the regression and the
minimum gap between two events were chosen by comparing scores on these two films. An earlier
version of the model was tested on the clips of the development film. The clips of the test film
were chosen by looking at pictures of them, and no detector was applied to them before the settings
were final. The thresholds of other detectors have the best mean F1 on the training and the
development film, the penalty of ruptures gives the true number of changes in the training film.
PySceneDetect has its default settings, TransNetV2 its threshold of 0.5 and the same minimum gap as
the other scores.
"""
ROWS = """\
*VPR level 3* is the default of `vpr segment`. *All events* are the events of the model without
probabilities. *D_st of level 2*, *feature jumps* and *frame difference* are peaks above a
threshold. *Regression at all frames* is the regression of the probabilities without VPR: fitted and
applied to every frame instead of the events of the model. Level 2 is fitted to transitions and
distractors: *with distractors* counts both as true. The times are not comparable: they are of one
core of a shared machine, with decoding for the detectors of pixels, but without the extraction of
features for those of features, and without the work that an earlier row did.
"""


def write_page(folder: Path) -> None:
    """Write the page and the diagram to the folder of the results."""
    results = read_json(folder / RESULTS)
    write_text(folder / PAGE, page(results))
    write_reliability(results["calibration"], folder / "reliability")


def page(results: dict[str, Any]) -> str:
    made = results["provenance"]
    parts = [
        HEAD,
        _table(_films(results["films"])),
        PROTOCOL,
        _table(_scores(results["detectors"])),
        ROWS,
        _without_vpr(results["detectors"]),
        "## Probabilities\n",
        _calibration(results["calibration"]),
        "![Reliability of the probabilities of levels 2 and 3](reliability.png)\n",
        f"{_commits(results['detectors'])}, torch {made['torch']}, {made['cpu']}.\n",
    ]
    return "\n".join(parts)


def summary(results: dict[str, Any]) -> str:
    """The main results in a sentence, for other pages."""
    film, detectors = results["films"]["test"], results["detectors"]
    ours, top = detectors["VPR level 3"], results["calibration"]["3"]

    def both(name: str) -> str:
        return f"{detectors[name]['cuts']['f1']:.2f} and {detectors[name]['all']['f1']:.2f}"

    others = {
        "the same regression without VPR": "regression at all frames",
        "jumps of the features": "feature jumps",
        "PySceneDetect (adaptive)": "PySceneDetect adaptive",
        "TransNetV2": "TransNetV2",
    }
    known = [f"{both(name)} for {text}" for text, name in others.items() if name in detectors]
    return (
        f"On a film with {film['cut']} cuts and {film['dissolve'] + film['fade']} dissolves and "
        f"fades, made of clips that are used for nothing else, the F1 of level 3 is "
        f"{ours['cuts']['f1']:.2f} for cuts and {ours['all']['f1']:.2f} for all transitions "
        f"(tolerance 0.2 s), and the expected calibration error is {top['error']:.2f}. For "
        f"comparison: {', '.join(known)}."
    )


def _films(films: dict[str, Any]) -> Iterator[list[str]]:
    yield ["film", "clips", "seconds", "cuts", "dissolves", "fades", "distractors"]
    for name, film in films.items():
        counts = ("cut", "dissolve", "fade", "distractors")
        yield [name, str(film["clips"]), f"{film['seconds']:.0f}", *(str(film[n]) for n in counts)]


def _scores(detectors: dict[str, Any]) -> Iterator[list[str]]:
    yield [
        *("detector", "cuts: F1", "precision", "recall", "all: F1", "precision", "recall"),
        *("dissolves: recall", "fades: recall", "with distractors: F1", "CPU seconds"),
    ]
    for name, each in detectors.items():
        values = [each[kind][n] for kind in ("cuts", "all") for n in ("f1", "precision", "recall")]
        values += [each["dissolves"]["recall"], each["fades"]["recall"]]
        values += [each["with distractors"]["f1"]]
        yield [name, *(f"{value:.3f}" for value in values), f"{each['cpu_seconds']:.1f}"]


def _without_vpr(detectors: dict[str, Any]) -> str:
    """Whether the events of the model improve on the regression alone; empty if not measured."""
    names = ("VPR level 3", "regression at all frames")
    if not all(name in detectors for name in names):
        return ""
    ours, alone = (detectors[name]["all"]["f1"] for name in names)
    verdict = "do not improve" if ours <= alone else "improve"
    return (
        f"The events of VPR {verdict} the detection of transitions on this film: F1 {ours:.3f} "
        f"with them, {alone:.3f} for the regression at all frames.\n"
    )


def _calibration(levels: dict[str, Any]) -> str:
    texts = [
        f"level {n}: {each['error']:.3f} ({sum(each['cases'])} events)"
        for n, each in levels.items()
    ]
    between = [f"{_between(each)} at level {n}" for n, each in levels.items()]
    return (
        f"Expected calibration error on the test film, in ten bins: {', '.join(texts)}. Of the "
        f"events with a probability between {LOW} and {HIGH}, these are correct: "
        f"{', '.join(between)}.\n"
    )


def _between(level: dict[str, Any]) -> str:
    """How many of the events with a medium probability are correct."""
    bins = zip(level["forecast"], level["frequency"], level["cases"], strict=True)
    medium = [(frequency * cases, cases) for p, frequency, cases in bins if LOW <= p < HIGH]
    return f"{sum(hits for hits, _ in medium):.0f} of {sum(cases for _, cases in medium)}"


def _commits(detectors: dict[str, Any]) -> str:
    """The commits at which the rows were measured."""
    rows: dict[str, list[str]] = {}
    for name, each in detectors.items():
        rows.setdefault(each["commit"], []).append(name)
    if len(rows) == 1:
        return f"Commit {next(iter(rows))}"
    most = max(rows, key=lambda commit: len(rows[commit]))
    others = [f"{', '.join(names)}: {each}" for each, names in rows.items() if each != most]
    return f"Commit {most} ({'; '.join(others)})"


def _table(rows: Iterator[list[str]]) -> str:
    head = next(rows)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def write_reliability(levels: dict[str, Any], stem: Path) -> None:
    """Frequency against probability; the area of a point is proportional to its events."""
    with panels(1) as (figure, (axes,)):
        axes.plot([0, 1], [0, 1], color="#999999", linewidth=1)
        for (level, each), colour in zip(sorted(levels.items()), LEVEL_COLOURS, strict=False):
            sizes = [10 + 300 * n / sum(each["cases"]) for n in each["cases"]]
            label = f"level {level} (error {each['error']:.3f})"
            axes.plot(each["forecast"], each["frequency"], color=colour, label=label)
            axes.scatter(each["forecast"], each["frequency"], sizes, color=colour)
        axes.set(xlabel="probability", ylabel="share that are correct")
        axes.legend()
        write_figure(stem, figure)
