"""The tables of violation rates: they say what the cells and the roll-ups say, in every form of the report."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from totals import report_of_totals

from audit.reports.violations import NOT_RUN, rates_of

FAMILIES = {"MR1": "substitution", "MR2": "substitution", "MR5": "synonyms", "MR7": "reordering"}
FIRST = {
    "study": 1,
    "corpus": "news",
    "task": "similarity",
    "groups": 100,
    "errors": 0,
    "inapplicable": 0,
    "waiting": 0,
}


def row(relation, system, satisfied, violated, judged, false, **more):
    counts = {"satisfied": satisfied, "violated": violated, "drawn": judged, "judged": judged, "false": false}
    return FIRST | {"relation": relation, "system": system, "family": FAMILIES.get(relation[:3])} | counts | more


CELL = st.builds(
    lambda relation, system, satisfied, violated, judged, false: (
        relation, system, satisfied, violated, min(judged, satisfied), min(false, judged, satisfied),
    ),
    st.sampled_from(["MR1.1", "MR2.1", "MR5.1", "MR7.1"]), st.sampled_from("abc"), *[st.integers(0, 40)] * 4,
)  # fmt: skip
"""Arguments of `row`."""
ROWS = (
    row("MR1.1", "a", 90, 10, 90, 45), row("MR1.1", "b", 80, 20, 80, 0), row("MR2.1", "a", 200, 100, 200, 20),
    row("MR2.1", "b", 270, 30, 270, 27), row("MR7.1", "a", 50, 0, 50, 5),
)  # fmt: skip


def report_of(*rows):
    return report_of_totals(list(rows), {"audit": "0.1.0", "confidence": 0.95, "file": "x.csv"})


def entry(report, by, name, system):
    (table,) = report["violations"]
    (rates,) = (rates for rates in rates_of(table, by, system) if rates["name"] == name)
    return rates


def test_worked_by_hand():
    report = report_of(*ROWS)
    (table,) = report["violations"]
    assert [(row["by"], row["name"]) for row in table["rows"]] == [
        ("relation", "MR1.1"), ("relation", "MR2.1"), ("relation", "MR7.1"), ("family", "substitution"),
        ("family", "reordering"), ("all", "all"), ("estimated", "2 of 3 relations"),
    ]  # fmt: skip
    # a: 10 of 100, 100 of 300 and 0 of 50 are violated, 45 + 20 + 5 satisfactions of 340 are false.
    alone = entry(report, "relation", "MR1.1", "a")
    assert (alone["groups"], alone["vr_observed"], alone["vr_genuine"]) == pytest.approx((100, 0.1, 0.55))
    together = entry(report, "all", "all", "a")
    assert together["groups"] == 450
    assert (together["vr_observed"], together["vr_genuine"]) == pytest.approx((110 / 450, 180 / 450))
    family = entry(report, "family", "substitution", "b")
    assert (family["vr_observed"], family["vr_genuine"]) == pytest.approx((50 / 400, 77 / 400))
    assert entry(report, "relation", "MR7.1", "b")["reason"] == NOT_RUN
    json.dumps(report, allow_nan=False)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(CELL, min_size=1, max_size=12, unique_by=lambda cell: cell[:2]))
def test_a_table_says_what_cells_and_roll_ups_say(cells):
    report = report_of(*(row(*cell) for cell in cells))
    (table,) = report["violations"]
    for cell in report["cells"]:
        (entry,) = (rates for rates in rates_of(table, "relation", cell["system"]) if rates["name"] == cell["relation"])
        assert entry["groups"] == cell["satisfied"] + cell["violated"]
        for name in ("vr_observed", "vr_genuine"):
            assert entry[name] == (None if cell[name] is None else pytest.approx(cell[name]))
    rollups = report["rollups"]
    for system in table["systems"]:
        (entry,) = rates_of(table, "all", system)
        assert {
            sum(rates["groups"] or 0 for rates in rates_of(table, by, system)) for by in ("relation", "family")
        } == {entry["groups"]}
        (rollup,) = (roll_up for roll_up in rollups if (roll_up["by"], roll_up["name"]) == ("system", system))
        for name, rest in (
            ("vr_observed", "sr_observed"),
            ("vr_genuine", "sr_genuine"),
            ("vr_genuine_low", "sr_genuine_high"),
        ):
            assert (entry[name] is None) == (rollup[rest] is None)
            assert entry[name] is None or entry[name] == pytest.approx(1 - rollup[rest])
