"""Observed and genuine rates, with every way in which something may be unknown."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.intervals import mid_p
from audit.statistics.rates import RATES, REACHES, with_estimates, with_rates


def cell(**counts):
    base = {"groups": 0, "satisfied": 0, "violated": 0, "inapplicable": 0, "errors": 0, "judged": 0, "false": 0}
    return base | counts


def rates(**counts):
    return with_rates(pd.DataFrame([cell(**counts)])).iloc[0]


def test_rates_worked_by_hand():
    # 80 of 100 satisfied; 15 of 60 judged are false: R = 1/4, SR_g = .8 * .75 = .6, VR_g = .2 + .8 * .25 = .4.
    row = rates(groups=107, satisfied=80, violated=20, inapplicable=5, errors=2, judged=60, false=15)
    assert row[["sr_observed", "vr_observed", "fs_rate"]].tolist() == pytest.approx([0.8, 0.2, 0.25])
    assert row[["sr_genuine", "vr_genuine"]].tolist() == pytest.approx([0.6, 0.4])
    interval = mid_p(15, 60, 80)
    assert (row["fs_low"], row["fs_high"]) == (interval.low, interval.high)
    assert row["sr_genuine_low"] == pytest.approx(0.8 * (1 - interval.high))
    assert row["sr_genuine_high"] == pytest.approx(0.8 * (1 - interval.low))


def test_all_judged_leaves_no_interval():
    row = rates(satisfied=8, violated=2, judged=8, false=2)
    assert row["fs_low"] == row["fs_rate"] == row["fs_high"] == 0.25
    assert row["sr_genuine_low"] == row["sr_genuine"] == row["sr_genuine_high"] == pytest.approx(0.6)


def test_nothing_judged_is_unknown_but_observed():
    row = rates(satisfied=8, violated=2)
    assert row["sr_observed"] == 0.8
    assert row[[name for name in RATES if name not in ("sr_observed", "vr_observed")]].isna().all()


def test_nothing_satisfied_needs_no_correction():
    row = rates(satisfied=0, violated=5)
    assert row[["fs_rate", "fs_low", "fs_high"]].isna().all()
    assert row[["sr_observed", "sr_genuine", "sr_genuine_low", "sr_genuine_high"]].tolist() == [0, 0, 0, 0]
    assert row[["vr_observed", "vr_genuine"]].tolist() == [1, 1]


def test_nothing_checked_is_unknown():
    assert rates(groups=5, inapplicable=4, errors=1)[list(RATES)].isna().all()


def test_published_rates_without_counts():
    frame = pd.DataFrame([cell(satisfied=None, violated=None, judged=None, false=None)]).assign(
        sr_observed=[0.9217], fs_rate=[0.1186]
    )
    row = with_rates(frame).iloc[0]
    assert row["sr_genuine"] == pytest.approx(0.8124, abs=1e-4)
    assert row["vr_genuine"] == pytest.approx(1 - row["sr_genuine"])
    assert row[["fs_low", "fs_high", "sr_genuine_low", "sr_genuine_high"]].isna().all()


def test_columns_index_and_order_are_kept():
    frame = pd.DataFrame([cell(satisfied=1, violated=1), cell(satisfied=2, violated=2)], index=["b", "a"])
    rates = with_rates(frame.assign(note=["x", "y"]))
    assert rates.index.tolist() == ["b", "a"]
    assert rates["note"].tolist() == ["x", "y"]
    assert rates.columns.tolist() == [*frame.columns, "note", *RATES, "method", *REACHES]
    assert "sr_observed" not in frame


def test_no_cells_give_no_rates():
    assert with_rates(pd.DataFrame([cell()]).iloc[:0]).empty


@pytest.mark.slow
@given(
    st.integers(0, 200).flatmap(
        lambda satisfied: st.tuples(st.just(satisfied), st.integers(0, 200), st.integers(0, satisfied))
    ),
    st.floats(0, 1),
)
@settings(max_examples=80, deadline=None)
def test_rates_add_up_and_intervals_hold_them(counts, share):
    satisfied, violated, judged = counts
    frame = pd.DataFrame([cell(satisfied=satisfied, violated=violated, judged=judged, false=int(share * judged))])
    row = with_rates(frame).iloc[0]
    if satisfied + violated:
        assert row["sr_observed"] + row["vr_observed"] == pytest.approx(1)
    if not np.isnan(row["sr_genuine"]):
        assert row["sr_genuine"] + row["vr_genuine"] == pytest.approx(1)
        assert row["sr_genuine"] <= row["sr_observed"]
        assert row["sr_genuine_low"] <= row["sr_genuine"] <= row["sr_genuine_high"]
    if judged:
        assert row["fs_low"] <= row["fs_rate"] <= row["fs_high"]


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ({"satisfied": 5, "judged": 6}, "6 judged of 5 satisfied"),
        ({"satisfied": 5, "judged": 4, "false": 5}, "5 false of 4"),
        ({"satisfied": -1}, "satisfied is -1"),
        ({"violated": -2}, "violated is -2"),
    ],
)
def test_impossible_counts_are_refused(counts, says):
    with pytest.raises(AuditError, match=says):
        rates(**counts)


def test_missing_columns_are_named():
    with pytest.raises(AuditError, match="judged, false"):
        with_rates(pd.DataFrame({"satisfied": [1], "violated": [0]}))


def test_other_estimates_take_the_place_of_the_samples_own():
    rates = with_rates(
        pd.DataFrame([cell(satisfied=80, violated=20, judged=40, false=10), cell(satisfied=0, violated=9)])
    )
    row = {"estimate": 0.3, "low": 0.2, "high": 0.45, "method": "PPI++", "gain": 1.5, "method_reason": None}
    nothing = dict.fromkeys(row) | {"method_reason": "nothing was judged"}
    other = with_estimates(rates, pd.DataFrame([row, nothing]))
    # SR_o = .8: SR_g = .8 x .7, its ends .8 x .55 and .8 x .8, VR_g = .2 + .8 x .3.
    names = ["fs_rate", "sr_genuine", "sr_genuine_low", "sr_genuine_high", "vr_genuine", "gain"]
    assert other.loc[0, names].tolist() == pytest.approx([0.3, 0.56, 0.44, 0.64, 0.44, 1.5])
    assert other.loc[1, ["sr_genuine", "vr_genuine"]].tolist() == [0, 1]  # nothing to correct
    assert np.isnan(other.loc[1, "fs_rate"])
    assert other.loc[0, ["sr_observed", "judged", "method"]].tolist() == [0.8, 40, "PPI++"]
    assert (
        with_estimates(rates, pd.DataFrame([row, row])).loc[1, ["fs_rate", "method"]].isna().all()
    )  # no rate, no other
    for bad in (pd.DataFrame([row]), pd.DataFrame([row, row]).drop(columns="low")):
        with pytest.raises(AuditError, match="estimates for 2 cells; each cell needs one, with estimate, low, high"):
            with_estimates(rates, bad)
