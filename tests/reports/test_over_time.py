"""The numbers as they firmed up, and agreement by stretch."""

import numpy as np
import pandas as pd
import pytest

from audit.annotation.accounts import add_account
from audit.annotation.ratings import Rated
from audit.errors import NotAllowed
from audit.reports.over_time import LEAST, agreement_over_time, history_report, stored_agreement
from audit.reports.study import study_report
from audit.store import open_store


@pytest.mark.parametrize("whose", ["both", "people"])
def test_at_the_last_point_the_numbers_are_the_report_s(judged, whose):
    engine = open_store(judged)
    found, report = history_report(engine, whose), study_report(engine, whose)
    cells = {(one["relation"], one["system"]): one for one in report["cells"]}
    assert [one["relation"] for one in found["relations"]] == [one["relation"] for one in report["relations"]]
    for entry, other in zip(found["relations"], report["relations"], strict=True):
        chances = {one["system"]: one["p_best"] for one in other["ranking"]}
        for one in entry["systems"]:
            cell = cells[entry["relation"], one["system"]]
            for name in ("judged", "sr_observed", "fs_rate", "fs_low", "fs_high", "sr_genuine_low", "sr_genuine_high"):
                assert one[name][-1] == cell[name]
                assert len(one[name]) == len(found["points"])
            assert one["p_best"][-1] == chances[one["system"]]
        known = {name: chance for name, chance in chances.items() if chance is not None}
        assert entry["winner"] == (max(known, key=lambda name: known[name]) if known else None)
    assert found["points"][-1]["judged"] == sum(one["judged"] for one in report["cells"])
    assert found["points"][0] | {"answers": 0, "judged": 0} == {
        "judgements": 0, "adjudications": 0, "until": None, "answers": 0, "judged": 0,
    }  # fmt: skip


def rated(labels):
    """Two annotators, who rate item after item."""
    rows = [(str(item), who, label) for item, pair in enumerate(labels) for who, label in zip("ab", pair, strict=True)]
    return Rated(pd.DataFrame(rows, columns=["item", "annotator", "label"]), ("x", "y"), (), {})


def test_stretches_follow_the_order_of_judging():
    # Twenty items on which both agree, then twenty on which they do not: 1.0 and 0.0 agree, 0.5 in all.
    found = agreement_over_time(rated(["xx", "yy"] * 10 + ["xy"] * 20), periods=2)
    assert [(one["value"], one["items"]) for one in found["groups"]] == [("1", 20), ("2", 20)]
    assert [one["coefficients"][0]["estimate"] for one in found["groups"]] == [1.0, 0.0]
    assert found["coefficients"][0]["estimate"] == 0.5
    # Ten items with x twice, ten with y twice, twenty with one of each.
    assert found["confusions"] == [[20, 20], [20, 20]]


def test_few_items_make_no_stretches():
    assert agreement_over_time(rated(["xx", "xy"] * LEAST))["groups"][-1]["value"] == "2"
    assert agreement_over_time(rated(["xx", "xy"] * (LEAST - 1)))["groups"] == []


def test_stored_agreement_is_for_managers_and_leaves_out_what_nobody_judged_twice(judged, tmp_path):
    engine = open_store(judged)
    (one,) = stored_agreement(engine)
    assert (one["task"], one["kind"]) == ("sentiment", "input")
    assert np.array(one["confusions"]).sum() == 2 * one["items"]
    ann = add_account(engine, "ann", "annotator", "long enough").id
    with pytest.raises(NotAllowed):
        stored_agreement(engine, ann)
    assert stored_agreement(open_store(str(tmp_path / "empty.db"), create=True)) == []
