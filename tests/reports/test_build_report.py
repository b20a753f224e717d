"""The report document: names, types, order, what is unknown, and the tables of violation rates."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from totals import report_of_totals

from audit.reports.document import less

FAMILIES = {"MR1": "substitution", "MR2": "substitution", "MR5": "synonyms", "MR7": "reordering"}


def row(relation="MR1.1", system="a", satisfied=80, violated=20, judged=60, false=15, **more):
    base = {"study": 1, "corpus": "news", "task": "sentiment", "relation": relation, "system": system}
    base |= {"groups": 110, "satisfied": satisfied, "violated": violated, "inapplicable": 8, "errors": 2}
    base |= {"drawn": judged, "judged": judged, "false": false, "waiting": 0}
    return base | {"family": FAMILIES.get(relation[:3])} | more


def build(*rows):
    return report_of_totals(list(rows), {"seed": 0, "notes": [], "file": "x.csv"})


def test_a_cell_has_plain_types_and_what_is_unknown_is_null():
    report = build(
        row(), row(system="b", satisfied=0, violated=0, judged=0, false=0), row(system="c", judged=0, false=0)
    )
    cell, unknown, unjudged = report["cells"]
    assert set(report) == {"signature", "cells", "relations", "overall", "rollups", "violations", "decisions"}
    assert (cell["sr_observed"], cell["fs_rate"]["value"], cell["fs_rate"]["n"]) == (0.8, 0.25, 60)
    assert cell["sr_genuine"]["value"] == pytest.approx(0.6)
    assert unknown["sr_observed"] is unknown["fs_rate"]["value"] is unknown["sr_genuine"]["low"] is None
    assert (unjudged["sr_observed"], unjudged["fs_rate"]["low"]) == (0.8, None)
    assert "drawn" in unjudged["sr_genuine"]["reason"]
    assert json.loads(json.dumps(report, allow_nan=False)) == report


@pytest.mark.slow
def test_order_does_not_depend_on_the_rows_order():
    rows = [row(f"MR{n}", system, study=study) for n in (2, 10, 1.5) for system in "ba" for study in ("t", "s")]
    report = build(*rows)
    assert [(cell["study"], cell["relation"], cell["system"]) for cell in report["cells"]] == [
        (study, relation, system) for study in "st" for relation in ("MR1.5", "MR2", "MR10") for system in "ab"
    ]
    random.Random(5).shuffle(rows)
    assert json.dumps(build(*rows)) == json.dumps(report)


# Violation rates as studies print them.


def entry(report, by, name, system):
    (table,) = report["violations"]
    (rates,) = (one["rates"] for one in table["rows"] if (one["by"], one["name"]) == (by, name))
    return rates[table["systems"].index(system)]


def test_a_table_worked_by_hand():
    report = build(
        row("MR1.1", "a", 90, 10, 90, 45), row("MR1.1", "b", 80, 20, 80, 0), row("MR2.1", "a", 200, 100, 200, 20),
        row("MR2.1", "b", 270, 30, 270, 27), row("MR7.1", "a", 50, 0, 50, 5),
    )  # fmt: skip
    assert [(one["by"], one["name"]) for one in report["violations"][0]["rows"]] == [
        ("relation", "MR1.1"), ("relation", "MR2.1"), ("relation", "MR7.1"), ("family", "substitution"),
        ("family", "reordering"), ("all", "all"), ("estimated", "2 of 3 relations"),
    ]  # fmt: skip
    # a: 10 of 100, 100 of 300 and 0 of 50 are violated, 45 + 20 + 5 satisfactions of 340 are false.
    for by, name, system, expected in (
        ("relation", "MR1.1", "a", (100, 0.1, 0.55)),
        ("all", "all", "a", (450, 110 / 450, 180 / 450)),
        ("family", "substitution", "b", (400, 50 / 400, 77 / 400)),
    ):
        one = entry(report, by, name, system)
        assert (one["groups"], one["vr_observed"], one["vr_genuine"]["value"]) == pytest.approx(expected)
    assert entry(report, "relation", "MR7.1", "b")["vr_genuine"]["reason"] == "not run"


CELL = st.builds(
    lambda relation, system, satisfied, violated, judged, false: (
        relation, system, satisfied, violated, min(judged, satisfied), min(false, judged, satisfied)
    ),
    st.sampled_from(["MR1.1", "MR2.1", "MR5.1", "MR7.1"]), st.sampled_from("abc"), *[st.integers(0, 40)] * 4,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(CELL, min_size=1, max_size=12, unique_by=lambda cell: cell[:2]))
def test_a_table_says_what_cells_and_roll_ups_say(cells):
    report = build(*(row(*cell) for cell in cells))
    ends = ("value", "low", "high")
    for cell in report["cells"]:
        false, genuine = cell["fs_rate"], cell["sr_genuine"]
        assert false["value"] is None or 0 <= false["low"] <= false["value"] <= false["high"] <= 1
        assert genuine["value"] is None or genuine["low"] <= genuine["value"] <= genuine["high"]
        one = entry(report, "relation", cell["relation"], cell["system"])
        assert one["groups"] == cell["satisfied"] + cell["violated"]
        assert [one["vr_genuine"][end] for end in ends] == [less(genuine)[end] for end in ends]
    for rollup in report["rollups"]:
        if rollup["by"] == "system":
            one = entry(report, "all", "all", rollup["name"])
            assert [one["vr_genuine"][end] for end in ends] == [less(rollup["sr_genuine"])[end] for end in ends]
