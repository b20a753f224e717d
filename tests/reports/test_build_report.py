"""The report document: names, types, order, and what is unknown."""

import json
import random

import numpy as np
import pandas as pd
import pytest
from totals import report_of_totals

CELL_KEYS = [
    "task", "relation", "system", "groups", "satisfied", "violated", "inapplicable", "errors", "judged", "false",
    "waiting", "sr_observed", "vr_observed", "fs_rate", "fs_low", "fs_high", "sr_genuine", "sr_genuine_low",
    "sr_genuine_high", "vr_genuine",
]  # fmt: skip
RELATION_KEYS = [
    "task", "relation", "order_observed", "order_genuine", "best_observed", "best_genuine", "order_changes",
    "best_changes",
]  # fmt: skip


def row(relation="MR1.1", system="a", **counts):
    base = {"study": "s", "corpus": "reviews", "task": "sentiment", "relation": relation, "system": system}
    base |= {"groups": 110, "satisfied": 80, "violated": 20, "inapplicable": 8, "errors": 2}
    return base | {"drawn": 60, "judged": 60, "false": 15, "waiting": 0} | counts


def build(*rows, **options):
    return report_of_totals(list(rows), {"seed": 0, "notes": []}, **options)


def test_a_cell_has_every_name_of_the_contract_and_plain_types():
    report = build(row())
    cell = report["cells"][0]
    assert set(CELL_KEYS) <= set(cell)
    assert {"study", "corpus", "drawn"} <= set(cell)
    assert set(RELATION_KEYS) <= set(report["relations"][0])
    assert set(report) == {"signature", "cells", "relations", "overall", "rollups", "violations", "decisions"}
    assert type(cell["groups"]) is int
    assert type(cell["fs_rate"]) is float
    assert (cell["sr_observed"], cell["fs_rate"]) == (0.8, 0.25)
    assert cell["sr_genuine"] == pytest.approx(0.6)
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_unknown_is_null_even_among_known_ones():
    report = build(
        row(), row(system="b", satisfied=0, violated=0, judged=0, false=0), row(system="c", judged=0, false=0)
    )
    unknown = report["cells"][1]
    assert all(unknown[name] is None for name in CELL_KEYS[11:])
    assert report["cells"][2]["sr_observed"] == 0.8
    assert report["cells"][2]["fs_low"] is None
    assert report["relations"][0]["order_observed"] == ["a", "c"]
    assert report["relations"][0]["order_genuine"] == ["a"]
    json.dumps(report, allow_nan=False)


def test_nullable_and_missing_counts():
    frame = pd.DataFrame([row(waiting=None), row(system="b")]).astype({"waiting": "Int64", "judged": "Int64"})
    cells = report_of_totals(frame.drop(columns=["drawn", "corpus"]), {})["cells"]
    assert [cell["waiting"] for cell in cells] == [None, 0]
    assert [cell["drawn"] for cell in cells] == [None, None]
    assert cells[0]["judged"] == 60


@pytest.mark.slow
def test_order_does_not_depend_on_the_rows_order():
    rows = [row(f"MR{n}", system, study=study) for n in (2, 10, 1.5) for system in "ba" for study in ("t", "s")]
    report = build(*rows)
    assert [(cell["study"], cell["relation"], cell["system"]) for cell in report["cells"]] == [
        (study, relation, system) for study in "st" for relation in ("MR1.5", "MR2", "MR10") for system in "ab"
    ]
    random.Random(5).shuffle(rows)
    assert json.dumps(build(*rows)) == json.dumps(report)
    assert [entry["study"] for entry in report["relations"]] == ["s"] * 3 + ["t"] * 3


@pytest.mark.slow
def test_an_interval_contains_its_estimate_in_every_cell():
    rng = np.random.default_rng(3)
    rows = []
    for n in range(150):
        satisfied, violated = (int(value) for value in rng.integers(0, 40, 2))
        judged = int(rng.integers(0, satisfied + 1))
        false = int(rng.integers(0, judged + 1))
        rows.append(row(f"MR{n}", satisfied=satisfied, violated=violated, judged=judged, false=false))
    for cell in build(*rows)["cells"]:
        if cell["fs_rate"] is not None:
            assert 0 <= cell["fs_low"] <= cell["fs_rate"] <= cell["fs_high"] <= 1
        if cell["sr_genuine"] is not None:
            assert cell["sr_genuine_low"] <= cell["sr_genuine"] <= cell["sr_genuine_high"]


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "said"), [(39, []), (40, ["of 40 cells about 2 are expected to miss"])])
def test_expected_misses_are_said_where_they_are_two(cells, said):
    notes = build(*(row(system=f"s{at}") for at in range(cells)))["signature"]["notes"]
    assert [note.split(": ")[1].split(".")[0] for note in notes if "expected to miss" in note] == said
