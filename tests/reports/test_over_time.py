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


@pytest.mark.slow
@pytest.mark.parametrize("whose", ["both", "people"])
def test_at_the_last_point_the_numbers_are_the_report_s(judged, whose):
    engine = open_store(judged)
    history, report = history_report(engine, whose), study_report(engine, whose)
    cells = {(cell["relation"], cell["system"]): cell for cell in report["cells"]}
    assert [relation["relation"] for relation in history["relations"]] == [
        relation["relation"] for relation in report["relations"]
    ]
    for entry, other in zip(history["relations"], report["relations"], strict=True):
        chances = {entry["system"]: entry["p_best"] for entry in other["ranking"]}
        for system in entry["systems"]:
            cell = cells[entry["relation"], system["system"]]
            for name in ("judged", "sr_observed", "fs_rate", "fs_low", "fs_high", "sr_genuine_low", "sr_genuine_high"):
                assert system[name][-1] == cell[name]
                assert len(system[name]) == len(history["points"])
            assert system["p_best"][-1] == chances[system["system"]]
        known_chances = {name: chance for name, chance in chances.items() if chance is not None}
        assert entry["winner"] == (max(known_chances, key=lambda name: known_chances[name]) if known_chances else None)
    assert history["points"][-1]["judged"] == sum(cell["judged"] for cell in report["cells"])
    assert history["points"][0] | {"answers": 0, "judged": 0} == {
        "judgements": 0, "adjudications": 0, "until": None, "answers": 0, "judged": 0,
    }  # fmt: skip


def rated(labels):
    """Two annotators, who rate item after item."""
    rows = [(str(item), who, label) for item, pair in enumerate(labels) for who, label in zip("ab", pair, strict=True)]
    return Rated(pd.DataFrame(rows, columns=["item", "annotator", "label"]), ("x", "y"), (), {})


def test_stretches_follow_the_order_of_judging():
    # Twenty items on which both agree, then twenty on which they do not: 1.0 and 0.0 agree, 0.5 in all.
    agreement = agreement_over_time(rated(["xx", "yy"] * 10 + ["xy"] * 20), periods=2)
    assert [(group["value"], group["items"]) for group in agreement["groups"]] == [("1", 20), ("2", 20)]
    assert [group["coefficients"][0]["estimate"] for group in agreement["groups"]] == [1.0, 0.0]
    assert agreement["coefficients"][0]["estimate"] == 0.5
    # Ten items with x twice, ten with y twice, twenty with one of each.
    assert agreement["confusions"] == [[20, 20], [20, 20]]


def test_few_items_make_no_stretches():
    assert agreement_over_time(rated(["xx", "xy"] * LEAST))["groups"][-1]["value"] == "2"
    assert agreement_over_time(rated(["xx", "xy"] * (LEAST - 1)))["groups"] == []


def test_stored_agreement_is_for_managers_and_leaves_out_what_nobody_judged_twice(judged, tmp_path):
    engine = open_store(judged)
    (agreement,) = stored_agreement(engine)
    assert (agreement["task"], agreement["kind"]) == ("sentiment", "input")
    assert np.array(agreement["confusions"]).sum() == 2 * agreement["items"]
    ann = add_account(engine, "ann", "annotator", "long enough").id
    with pytest.raises(NotAllowed):
        stored_agreement(engine, ann)
    assert stored_agreement(open_store(str(tmp_path / "empty.db"), create=True)) == []
