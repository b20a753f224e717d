"""SR_c worked by hand, at its limits, and its coverage."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.corrected import COUNTS, RATES, Counts, Documents, corrected, with_corrected
from audit.statistics.intervals import mid_p

NOTHING = dict.fromkeys(Counts.__dataclass_fields__, 0)


def counts(**changes):
    return Counts(**(NOTHING | changes))


def test_the_ratio_estimator_worked_by_hand():
    # 80 satisfied and 20 violated groups. Of 10 satisfied ones: 6 genuine and hold, 1 genuine and broken, 2 false
    # and hold, 1 false and broken. Of 10 violated ones 4 are broken.
    result = corrected(
        counts(
            satisfied=80, violated=20, judged=10, false=3, audited_genuine=7, broken_genuine=1, audited_false=3,
            broken_false=1, audited_violated=10, broken_violated=4,
        )
    )  # fmt: skip
    # 80 x 6/10 / (80 x 8/10 + 20 x 6/10) = 48 / 76.
    assert result.rate == pytest.approx(48 / 76)
    assert result.low < 48 / 76 < result.high


def test_a_longer_draw_sharpens_the_share_of_true_ones():
    # As above, but 40 groups were judged for false satisfactions and 10 of them are: q = .75 in the place of .7, and
    # 80 (.75 x 6/7) / (80 (.75 x 6/7 + .25 x 2/3) + 12).
    audited = {"audited_genuine": 7, "broken_genuine": 1, "audited_false": 3, "broken_false": 1, "audited_violated": 10}
    short = counts(satisfied=80, violated=20, judged=10, false=3, broken_violated=4, **audited)
    long = counts(satisfied=80, violated=20, judged=40, false=10, broken_violated=4, **audited)
    true, false = 0.75 * 6 / 7, 0.25 * 2 / 3
    assert corrected(long).rate == pytest.approx(80 * true / (80 * (true + false) + 12))
    assert corrected(long).high - corrected(long).low < corrected(short).high - corrected(short).low


def test_where_relations_hold_everywhere_it_is_the_genuine_rate():
    # SR_g = .8 (1 - .25) = .6.
    result = corrected(
        counts(
            satisfied=80, violated=20, judged=80, false=20, audited_genuine=60, audited_false=20, audited_violated=20
        )
    )
    assert (result.rate, result.low, result.high) == pytest.approx((0.6, 0.6, 0.6))


def test_what_cannot_be_known_is_none():
    assert corrected(counts()) is None
    assert corrected(counts(satisfied=5, violated=1, audited_violated=1)) is None
    assert corrected(counts(satisfied=5, violated=1, judged=2, audited_genuine=2)) is None
    # The relation was found to hold nowhere: nothing is left to compare.
    assert corrected(counts(satisfied=1, judged=1, audited_genuine=1, broken_genuine=1)) is None


def test_nothing_satisfied_is_zero_for_the_corpus_and_open_for_the_population():
    nothing = counts(violated=20, audited_violated=10, broken_violated=2)
    assert corrected(nothing) == corrected(nothing, confidence=0.5)
    assert (corrected(nothing).rate, corrected(nothing).high) == (0.0, 0.0)
    assert corrected(nothing, target="population").high > 0.1


def test_nothing_violated_needs_no_violated_groups():
    # 3 of 4 in which it holds are genuine.
    result = corrected(counts(satisfied=5, judged=5, false=2, audited_genuine=3, audited_false=2, broken_false=1))
    assert (result.rate, result.low, result.high) == pytest.approx((0.75, 0.75, 0.75))


def test_no_true_satisfaction_was_audited_leaves_the_interval_open():
    result = corrected(counts(satisfied=50, violated=0, judged=20, false=4, audited_false=2))
    assert result.rate == pytest.approx(0.8)  # as many hold among the true ones as among all
    assert result.low < 0.1


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"satisfied": 2, "judged": 3}, "judged is 3 and satisfied 2; allowed are 0 to 2"),
        (
            {"satisfied": 3, "judged": 3, "false": 1, "audited_genuine": 3},
            "audited_genuine is 3 of 2 true",
        ),
        ({"violated": 3, "audited_violated": 1, "broken_violated": 2}, "broken_violated is 2 and audited_violated 1"),
        ({"violated": 3, "audited_violated": -1}, "audited_violated is -1"),
    ],
)
def test_impossible_counts_are_refused(bad, says):
    with pytest.raises(AuditError, match=says):
        counts(**bad)


@st.composite
def possible(draw):
    """Counts of a cell, audited in part."""
    satisfied, violated = draw(st.integers(1, 60)), draw(st.integers(0, 60))
    judged = draw(st.integers(1, satisfied))
    false = draw(st.integers(0, judged))
    audited_false = draw(st.integers(0, false))
    audited_genuine = draw(st.integers(0 if audited_false else min(1, judged - false), judged - false))
    audited_violated = draw(st.integers(min(1, violated), violated))
    return Counts(
        satisfied=satisfied,
        violated=violated,
        judged=judged,
        false=false,
        audited_genuine=audited_genuine,
        broken_genuine=draw(st.integers(0, audited_genuine)),
        audited_false=audited_false,
        broken_false=draw(st.integers(0, audited_false)),
        audited_violated=audited_violated,
        broken_violated=draw(st.integers(0, audited_violated)),
    )


@given(possible(), st.sampled_from(["corpus", "population"]))
def test_the_estimate_is_inside_and_the_population_is_less_sure(audited, target):
    result = corrected(audited, target=target)
    if result is not None:
        assert 0 <= result.low <= result.rate <= result.high <= 1


@given(possible())
def test_less_confidence_is_narrower(audited):
    wide, narrow = corrected(audited), corrected(audited, confidence=0.8)
    if wide is not None:
        assert wide.low <= narrow.low + 1e-12
        assert narrow.high <= wide.high + 1e-12


def test_a_frame_keeps_its_rows_and_leaves_unaudited_cells_unknown():
    rows = [
        NOTHING | {"satisfied": 8, "violated": 2, "judged": 8, "false": 4, "audited_genuine": 4, "audited_false": 4}
        | {"audited_violated": 2, "broken_violated": 2, "holds_judged": 10},
        {"satisfied": 8, "violated": 2, "judged": 8, "false": 4},
    ]  # fmt: skip
    cells = with_corrected(pd.DataFrame(rows, index=["a", "b"]))
    # 4 of the 8 groups in which it holds; both violations are false.
    assert cells.loc["a", list(RATES)].tolist() == pytest.approx([0.5, 0.5, 0.5, 1, 1, 1])
    assert cells.loc["b", list(RATES)].isna().all()
    assert with_corrected(pd.DataFrame(rows[1:])).loc[0, list(RATES)].isna().all()
    assert set(COUNTS) <= set(cells.columns)


def test_the_false_violation_rate_has_the_interval_of_its_method():
    row = NOTHING | {"violated": 50, "audited_violated": 20, "broken_violated": 5, "holds_judged": 20}
    cell = with_corrected(pd.DataFrame([row])).iloc[0]
    ends = mid_p(5, 20, 50)
    assert cell[["false_violation_rate_low", "false_violation_rate_high"]].tolist() == [ends.low, ends.high]
    wider = with_corrected(pd.DataFrame([row]), target="population").iloc[0]
    assert wider["false_violation_rate_high"] == mid_p(5, 20, None).high


def test_the_interval_holds_the_truth():
    # 200 true, 100 false satisfactions and 150 violations; the relation holds in 190, 85 and 90 of them: 190 / 365.
    rng = np.random.default_rng(5)
    kinds = np.repeat([0, 1, 2, 3], [190, 10, 85, 15])
    held = 0
    for _ in range(500):
        drawn = rng.permutation(kinds)[:60]
        audited = drawn[:25]
        violated = int(rng.hypergeometric(60, 90, 25))
        result = corrected(
            counts(
                satisfied=300, violated=150, judged=60, false=int((drawn > 1).sum()),
                audited_genuine=int((audited < 2).sum()), broken_genuine=int((audited == 1).sum()),
                audited_false=int((audited > 1).sum()), broken_false=int((audited == 3).sum()),
                audited_violated=25, broken_violated=violated,
            )
        )  # fmt: skip
        held += result.low <= 190 / 365 <= result.high
    assert held / 500 >= 0.93


SOME = {"satisfied": 80, "violated": 20, "judged": 40, "false": 12, "audited_genuine": 14, "broken_genuine": 2}
SOME |= {"audited_false": 6, "broken_false": 2, "audited_violated": 10, "broken_violated": 4}
SIZES = np.array([100.0, 40.0, 14.0, 6.0, 10.0])


def width(documents, target="population"):
    result = corrected(counts(**SOME), target=target, documents=documents)
    return result.high - result.low


def test_documents_widen_sr_c_and_never_narrow_it():
    alone = width(None)
    assert width(Documents(SIZES, np.eye(5))) == alone
    assert width(Documents(SIZES / 2, np.eye(5))) > 1.2 * alone
    together = np.eye(5)
    together[0, 1] = together[1, 0] = 0.8  # where more is violated more is false: both make SR_c smaller
    assert width(Documents(SIZES, together)) > alone
    together[0, 1] = together[1, 0] = -0.8
    assert width(Documents(SIZES, together)) == alone
    assert width(Documents(SIZES / 2, np.eye(5)), "corpus") == width(None, "corpus")


def test_false_violations_have_the_size_of_their_documents():
    frame = pd.DataFrame([SOME])
    frame["documents"] = pd.Series([Documents(SIZES / 2, np.eye(5))], dtype=object)
    cell = with_corrected(frame, target="population").iloc[0]
    ends = mid_p(2, 5, None)
    assert (cell["false_violation_rate_low"], cell["false_violation_rate_high"]) == pytest.approx((ends.low, ends.high))
