"""Figure 16: differences of entropies and cross entropies between the two hypotheses of CE.

D_KL(q ‖ p) = H(q, p) − H(q), so CE is H(q_st, p_st) − H(q_ch, p_ch) > H(q_st) − H(q_ch).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vpr.experiments.runner.experiment import Claim, Experiment, Results, Statement
from vpr.experiments.runner.result_metrics import metric
from vpr.experiments.runner.settings import describe, single_run
from vpr.experiments.runner.training_runs import Record, measure_training, record_steps
from vpr.experiments.runner.verdicts import at_most
from vpr.experiments.shared.moving_ball import training_curve
from vpr.experiments.shared.panels import draw_curve, draw_runs
from vpr.utils.figures import OTHERS, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = {"entropy_gap": "entropies", "cross_entropy_gap": "cross entropies"}
COLOURS = {"entropy_gap": OTHERS[1], "cross_entropy_gap": OTHERS[0]}


def extract_metrics(record: Record) -> dict[str, Any]:
    """|H(q_ch) − H(q_st)| and |H(q_ch, p_ch) − H(q_st, p_st)|, means over frames, level 2."""
    curves = {name: training_curve(record, name) for name in LABELS}
    last = {name: values[-1] for name, values in curves.items()}
    share = last["entropy_gap"] / last["cross_entropy_gap"]
    return last | {"share": share, "curve": {"step": record_steps(record)} | curves}


def draw(results: Results) -> Figure:
    runs = results["both"]
    with panels(2) as (figure, (over, final)):
        over.set_yscale("log")
        for name, label in LABELS.items():
            draw_curve(over, runs, name, COLOURS[name], label)
        over.set_xlabel("training step")
        over.set_ylabel("difference, nats")
        over.legend()
        groups = {label: metric(runs, name) for name, label in LABELS.items()}
        draw_runs(final, groups, list(COLOURS.values()))
        final.set_ylim(bottom=0)
        final.set_ylabel("final difference of each run, nats")
    return figure


def claims(results: Results) -> list[Claim]:
    runs = results["both"]
    rows = [
        Claim(
            f"Moving Ball, level 2: mean difference of the {label}, nats",
            {"entropy_gap": "about 0", "cross_entropy_gap": "large"}[name] + " (figure only)",
            metric(runs, name),
            describe(runs),
        )
        for name, label in LABELS.items()
    ]
    what = "Moving Ball, level 2: ratio of the entropy to the cross-entropy difference"
    shares = metric(runs, "share")
    return [*rows, Claim(what, "negligible", shares, describe(runs), percent=True)]


def statements(results: Results) -> list[Statement]:
    shares = metric(results["both"], "share")
    text = "Moving Ball: difference of the entropies at most a tenth of that of the cross entropies"
    return [at_most(text, shares, 0.1)]


EXPERIMENT = Experiment(
    name="entropy",
    paper="figure 16, appendix C.5",
    title="Moving Ball, level 2: differences of entropies and of cross entropies in CE",
    cost="no training if criteria is done",
    variants=single_run("moving-ball"),
    measure=measure_training(extract_metrics),
    draw=draw,
    claims=claims,
    statements=statements,
)
