"""The tables of the results page."""

import re
from pathlib import Path

from vpr.experiments import EXPERIMENTS
from vpr.experiments.runner.experiment import Claim, Controls, Published
from vpr.experiments.runner.table import NO_BREAK, Footnotes, claims_table, main_table

ROOT = Path(__file__).parents[2]
F1 = Claim("level-2 F1", Published(0.97, 0.03), [0.9, 1.0], "cpu/ball: smaller", main="Ball: F1")
CONTROLS = Controls([0.2, 0.4], [0.1, 0.1])


def test_settings_are_footnotes_that_are_described_once() -> None:
    footnotes = Footnotes()
    table = claims_table([F1, F1._replace(setting="cpu/room"), F1], footnotes)
    assert re.findall(r"level-2 F1(\S+)", table) == ["[^1]", "[^2]", "[^1]"]
    assert "smaller" not in table
    assert footnotes.text() == "[^1]: cpu/ball: smaller.\n[^2]: cpu/room."


def test_a_table_has_columns_for_controls_if_there_are_any() -> None:
    assert claims_table([F1], Footnotes()).splitlines()[0].endswith("| n |")
    rows = claims_table([F1._replace(controls=CONTROLS), F1], Footnotes()).splitlines()
    assert rows[0].endswith("| n | periodic | random |")
    first, second = (row.replace(NO_BREAK, " ") for row in rows[2:])
    assert first.endswith(
        "| 0.97 ± 0.03 | 0.9500 ± 0.0707 | 0.9000, 1.0000 | 2 | 0.3000 | 0.1000 |"
    )
    assert second.endswith("| 2 | – | – |")


def test_main_results_have_one_row_per_quantity_and_a_column_per_method() -> None:
    vta = F1._replace(method="VTA", ours=[0.5], paper=Published(0.52, 0.05), setting="cpu/vta")
    only_baseline = vta._replace(main="Room: F1", paper="figure only")
    claims = [F1._replace(controls=CONTROLS), vta, only_baseline, F1._replace(main="")]
    table = main_table(claims, Footnotes())
    head, _, *rows = table.replace(NO_BREAK, " ").splitlines()
    assert head == "| quantity | paper | VPR | n | VTA | periodic | random |"
    assert rows == [
        "| Ball: F1 | 0.97 ± 0.03 | **0.9500 ± 0.0707**[^1] | 2 "
        "| 0.5000 (n = 1; paper 0.52 ± 0.05)[^2] | 0.3000 | 0.1000 |",
        "| Room: F1 | – | – | – | 0.5000 (n = 1)[^2] | – | – |",
    ]


def test_every_footnote_of_the_page_is_defined_and_used() -> None:
    page = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    defined = re.findall(r"^\[\^(\d+)\]: ", page, re.MULTILINE)
    used = set(re.findall(r"\[\^(\d+)\](?!:)", page))
    assert defined == [str(n + 1) for n in range(len(used))]
    assert used == set(defined)


def test_the_list_of_experiments_has_their_places_in_the_paper() -> None:
    page = (ROOT / "docs" / "results" / "experiments.md").read_text(encoding="utf-8")
    places = dict(re.findall(r"^\| `([\w-]+)` \| (.*?) ?\| ", page, re.MULTILINE))
    assert places == {name: each.paper for name, each in EXPERIMENTS.items()}
